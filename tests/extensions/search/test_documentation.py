"""Execute docs/extensions/search.md: the project that it describes prints what it shows."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from dbt_anonymize.project import generate
from tests.extensions.search.running import run
from tests.projects import REPOSITORY, Project, copy_consumer

PAGE = (REPOSITORY / "docs" / "extensions" / "search.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEC = "anonymizations/patients.yml"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project of the page, with the frequencies built."""
    project = copy_consumer(tmp_path_factory.mktemp("page") / "project")
    for _, name, text in BLOCK.findall(PAGE):
        if "/" in name:
            (project.folder / name).write_text(text, encoding="utf-8")
    generate.generate(project.folder, ["patients"])
    project.build("--select", "+patients_frequencies")
    return project


def plain(text: str) -> str:
    """Return what is printed without trailing blanks, and with 0.0 for the seconds."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return re.sub(r"in \d+\.\d s", "in 0.0 s", "\n".join(lines))


def block(language: str, name: str = "") -> str:
    """Return the one block of the page that is neither a file nor a command."""
    (found,) = [
        text for kind, title, text in BLOCK.findall(PAGE) if (kind, title) == (language, name)
    ]
    return str(found)


def test_the_search_prints_and_changes_what_the_page_shows(
    project: Project, tmp_path: Path
) -> None:
    project = project.copy(tmp_path / "project")
    before = (project.folder / SPEC).read_text(encoding="utf-8")
    printed = run(project, name="patients").output
    assert plain(printed) == plain(block("text"))
    after = (project.folder / SPEC).read_text(encoding="utf-8")
    changed = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    assert "\n".join([*changed][2:]) == block("diff").rstrip("\n")
    columns = project.query("select column_name from (describe patients_lattice)")
    documented = re.findall(
        r"`([a-z_<>-]+)`", PAGE[PAGE.index("| `node`") : PAGE.index("The numbers of")]
    )
    for (column,) in columns:
        assert (
            column.replace("age_", "<quasi-identifier>_").replace("city_", "<quasi-identifier>_")
            in documented
        )


def test_an_infeasible_guarantee_is_explained_as_on_the_page(
    project: Project, tmp_path: Path
) -> None:
    project = project.copy(tmp_path / "project")
    project.edit(SPEC, lambda text: text.replace("l: 2}", "variant: entropy, l: 2.99}"))
    assert plain(run(project, name="patients").output) == plain(block("text", "infeasible"))
