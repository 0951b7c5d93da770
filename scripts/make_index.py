"""Write what leads to pages that go with extensions, so that each can be pulled out with its pages.

That is the index `docs/extensions/README.md`, the links of `docs/README.md` by task, the table of
case studies, and the navigation of the site. A page of an extension is `docs/extensions/<name>.md`,
further ones lie in a folder of its name. Its front matter has a ``line`` about it, the ``task`` of
`docs/README.md` under which it stands, if it does, and what it ``needs`` of other extensions. With
that key pages elsewhere go with extensions, too. Other pages link to the index instead.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.extension import Extension, shipped
from dbt_anonymize.spec import of_extensions

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FOLDER = DOCS / "extensions"
INDEX = FOLDER / "README.md"
STUDIES = DOCS / "case_studies" / "README.md"
NAVIGATION = ROOT / "mkdocs.yml"
ABOVE = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
_NOTE = "<!-- Written by scripts/make_index.py (`make reference`); edit what it reads. -->"
_INTRODUCTION = (
    "An anonymization can do without any of these. Each has one name and its own folders of code, "
    "tests and pages, and can be [pulled out](../../CONTRIBUTING.md#an-extension) with them."
)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n", re.M | re.S)
# In Markdown or YAML, between a line `written: <name>` and a line `end`.
_PART = re.compile(
    r"(?P<begin>(?P<sign><!--|#) written: (?P<name>[\w ]+?)(?: -->)?\n).*?(?=^ *(?P=sign) end\b)",
    re.M | re.S,
)
_LINK = re.compile(r"\]\(([^)#\s]*README\.md)#(\w+)\)")


def about(page: Path) -> dict[str, Any]:
    """Return the front matter of a page."""
    front_matter = _FRONT_MATTER.match(page.read_text(encoding="utf-8"))
    return yaml.safe_load(front_matter[1]) if front_matter else {}


def title(page: Path) -> str:
    """Return the heading of a page up to its colon."""
    heading, *_ = re.findall(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)
    return str(heading).partition(":")[0]


def needed(page: Path) -> set[str]:
    """Return the extensions without any of which a page goes, but for what these need."""
    place = page.relative_to(ROOT).parts
    own = {Path(place[2]).stem} if place[:2] == ("docs", "extensions") and page != INDEX else set()
    return own | {*about(page).get("needs", ())}


def pages_of(name: str) -> list[Path]:
    """Return the pages of an extension, its own first."""
    return [*FOLDER.glob(f"{name}.md"), *sorted((FOLDER / name).rglob("*.md"))]


def without_parts(text: str) -> str:
    """Return a page without its parts that are written here."""
    return _PART.sub(r"\g<begin>", text)


def index() -> str:
    """Return the page that has a section for each extension."""
    here = {one.name for one in shipped()}
    pages = [*DOCS.rglob("*.md"), *(ROOT / name for name in ABOVE)]
    named = {
        name
        for page in pages
        for target, name in _LINK.findall(page.read_text(encoding="utf-8"))
        if (page.parent / target).resolve() == INDEX
    }
    gone = [f"## {name}\n\nIs not here." for name in sorted(named - here)]
    parts = ["# Extensions", _NOTE, _INTRODUCTION, *map(_section, shipped()), *gone]
    return "\n\n".join(parts) + "\n"


def _section(one: Extension) -> str:
    paragraph, *_ = (import_module(one.package).__doc__ or "").split("\n\n")
    facts = "\n".join(f"- {line}" for line in _facts(one))
    return f"## {one.name}\n\n{' '.join(paragraph.split())}\n\n{facts}"


def _facts(one: Extension) -> Iterator[str]:
    yield from (f"{_link(page, FOLDER)}: {about(page)['line']}" for page in pages_of(one.name))
    added = [line.split()[1] for line in of_extensions.lines() if line.split()[0] == one.name]
    keys = [key for key in added if not key.startswith("adapter.")]
    if keys:
        yield f"[Spec keys](../reference/spec.md): {_named(keys)}."
    if one.commands:
        yield f"[Commands](../reference/commands.md): {_named(c.name for c in one.commands)}."
    if one.checks:
        yield f"Checks of [`verify`](../verification.md): {_named(c.name for c in one.checks)}."
    if one.needs:
        yield f"Needs {', '.join(f'[{name}](#{name})' for name in one.needs)}."


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _link(page: Path, folder: Path) -> str:
    return f"[{title(page)}]({posixpath.relpath(page.as_posix(), folder.as_posix())})"


def _pages() -> list[Path]:
    return [page for one in shipped() for page in pages_of(one.name)]


def _studies() -> list[Path]:
    return sorted(page for page in STUDIES.parent.glob("*.md") if page != STUDIES)


def front_page() -> str:
    """Return the front page with pages of extensions under their tasks."""

    def lines(task: str) -> str:
        pages = (page for page in _pages() if about(page).get("task") == task)
        return "".join(f"- {_link(page, DOCS)}: {about(page)['line']}\n" for page in pages)

    return _written(DOCS / "README.md", lines)


def studies() -> str:
    """Return the page of the case studies with their table."""

    def rows(_: str) -> str:
        linked = ((_link(page, STUDIES.parent), about(page)) for page in _studies())
        lines = (f"| {link} | {of['models']} | {of['line']} |\n" for link, of in linked)
        return "| study | models | what one learns |\n|---|---|---|\n" + "".join(lines)

    return _written(STUDIES, rows)


def navigation() -> str:
    """Return the settings of the site with pages of extensions and case studies."""

    def entries(which: str) -> str:
        listed = {"extensions": [INDEX, *_pages()], "case studies": [STUDIES, *_studies()]}[which]
        lines = (f"{title(page)}: {page.relative_to(DOCS).as_posix()}" for page in listed)
        return "".join(f"      - {line}\n" for line in lines)

    return _written(NAVIGATION, entries)


def _written(path: Path, content: Callable[[str], str]) -> str:
    """Return a file with each of its parts between two marks written anew."""
    text = path.read_text(encoding="utf-8")
    return _PART.sub(lambda part: part["begin"] + content(part["name"]), text)


PAGES: dict[Path, Callable[[], str]] = {
    INDEX: index,
    DOCS / "README.md": front_page,
    STUDIES: studies,
    NAVIGATION: navigation,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for written, of in PAGES.items():
        written.write_text(of(), encoding="utf-8", newline="\n")
