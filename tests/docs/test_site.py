"""The site: its navigation has every page, links lead somewhere, nothing is loaded from afar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.check_site import loads
from scripts.site_hooks import ABOVE, adapted
from tests.docs.pages import DOCS, MODELS
from tests.projects import REPOSITORY

PAGES = [*sorted(DOCS.rglob("*.md")), *(REPOSITORY / name for name in ABOVE)]
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)")


def named(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    else:
        for item in node.values() if isinstance(node, dict) else node:
            yield from named(item)


def test_the_navigation_names_every_page_once() -> None:
    settings = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    own = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    assert sorted(named(settings["nav"])) == sorted([*own, *ABOVE.values()])


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = (re.sub(r"[`*]", "", found) for found in re.findall(r"^#+ (.+)$", text, re.M))
    return {re.sub(r"[^\w\- ]", "", found.lower()).replace(" ", "-") for found in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target) if target else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), (target, anchor)


@pytest.mark.parametrize(
    ("place", "written", "read"),
    [
        ("overview.md", "[risk](docs/risk.md#k), [it](LICENSE)", "[risk](risk.md#k), it"),
        ("models/k_map.md", "[it](../../README.md)", "[it](../overview.md)"),
        ("README.md", "[it](../README.md)", "[it](overview.md)"),
        ("overview.md", "[by task](docs/README.md)", "[by task](README.md)"),
        ("engines.md", "Two:\n- one\n  more\n- two", "Two:\n\n- one\n    more\n- two"),
        (
            "engines.md",
            "```yaml a/b.yml\n- [x](y)\n```",
            '``` { .yaml title="a/b.yml" }\n- [x](y)\n```',
        ),
    ],
)
def test_markdown_is_read_as_github_reads_it(place: str, written: str, read: str) -> None:
    assert adapted(written, place) == read


def test_the_page_of_promises_names_every_privacy_model() -> None:
    text = (DOCS / "promises.md").read_text(encoding="utf-8")
    models = {page.stem for page in MODELS.glob("*.md")} - {"README"}
    assert set(re.findall(r"\(models/(\w+)\.md\)", text)) == models


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>'),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/x.css">'),
        ("a.html", '<img alt="" src="http://example.org/x.png">'),
        ("a.html", "<style>@import 'https://example.org/x.css';</style>"),
        ("a.html", '<pre class="mermaid">a</pre>'),
        ("a.css", "body { background: url(https://example.org/x.png) }"),
    ],
)
def test_what_a_page_loads_from_another_host_is_found(tmp_path: Path, name: str, text: str) -> None:
    page = tmp_path / name
    page.write_text(text, encoding="utf-8")
    assert loads(page)


def test_a_link_that_is_followed_loads_nothing(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text('<a href="https://example.org"><img src="x.png"></a>', encoding="utf-8")
    assert loads(page) == []
