"""Pages go with their extensions: others link to the index of extensions, which is generated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.extension import extensions, shipped
from scripts import make_index
from tests.docs.test_site import LINK, PAGES
from tests.extensions.pulled_out import with_dependents
from tests.projects import REPOSITORY

WRITTEN = [page for page in PAGES if page != make_index.INDEX]
CODE = [
    path
    for folder in ("python", "macros")
    for path in (REPOSITORY / folder).rglob("*")
    if path.suffix in {".j2", ".py", ".sql", ".yml"}
]


def stays_without(page: Path, owners: set[str]) -> set[str]:
    """Return the extensions that a page needs, and that can go while ``owners`` stay."""
    return {name for name in make_index.needed(page) if not owners & with_dependents(name)}


@pytest.mark.parametrize("path", make_index.PAGES, ids=lambda path: path.parent.name)
def test_what_leads_to_pages_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == make_index.PAGES[path](), "make reference"


def test_each_page_is_of_an_extension_and_says_where_it_stands() -> None:
    pages = [page for one in shipped() for page in make_index.pages_of(one.name)]
    assert {*make_index.FOLDER.rglob("*.md")} == {*pages, make_index.INDEX}
    front = (make_index.DOCS / "README.md").read_text(encoding="utf-8")
    for page in pages:
        about = make_index.about(page)
        assert {"line"} <= {*about} <= {"line", "needs", "task"}, page
        assert "task" not in about or f"<!-- written: {about['task']} -->" in front, page


def test_what_a_page_needs_is_here() -> None:
    here = {one.name for one in extensions()}
    assert all(make_index.needed(page) <= here for page in PAGES)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_a_page_links_to_what_stays_as_long_as_itself(page: Path) -> None:
    text = make_index.without_parts(page.read_text(encoding="utf-8"))
    for target, _ in LINK.findall(text):
        if target.endswith(".md"):
            linked = (page.parent / target).resolve()
            assert not stays_without(linked, make_index.needed(page)), target


def test_code_names_pages_that_stay_as_long_as_itself() -> None:
    for path in CODE:
        owners = {*re.findall(r"/extensions/(\w+)/", path.as_posix())}
        for target in re.findall(r"docs/[\w/]+\.md", path.read_text(encoding="utf-8")):
            assert (REPOSITORY / target).exists(), (path, target)
            assert not stays_without(REPOSITORY / target, owners), (path, target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_installs_from_the_clone(page: Path) -> None:
    """No registry of packages has dbt-anonymize."""
    assert not re.findall(r"(?<!\.\./)dbt-anonymize\[\w+\]", page.read_text(encoding="utf-8"))
