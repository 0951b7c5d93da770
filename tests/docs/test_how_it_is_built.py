"""Page "How it is built": links lead to definitions, rows are those of a build."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dbt_anonymize
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify import run as verification
from dbt_anonymize.verify.recomputation.guarantees import Recount
from tests.conftest import Demonstration
from tests.docs.pages import DOCS
from tests.projects import Project

PAGE = (DOCS / "how_it_is_built.md").read_text(encoding="utf-8")
NAMES = re.findall(r"\[`(\w+)`\]\(([^)#]+)\)", PAGE)
QUERIES = re.findall(r"^```sql\n(.*?)^```\n\n((?:\|[^\n]*\n)+)", PAGE, re.M | re.S)
DEFINITIONS = {
    ".sql": r"^{{% (?:macro|materialization) {name}\b",
    ".py": r"^(?:\s*def {name}\(|class {name}\b|\s*{name} = )",
}
EXTENSIONS = ("recoding", "second_month", "external_efforts")
PACKAGE = Path(dbt_anonymize.__path__[0])


@pytest.mark.parametrize(("name", "target"), NAMES, ids=[name for name, _ in NAMES])
def test_a_name_is_defined_in_the_file_it_links_to(name: str, target: str) -> None:
    path = DOCS / target
    definition = DEFINITIONS[path.suffix].format(name=name)
    assert re.search(definition, path.read_text(encoding="utf-8"), re.M), target


def test_a_guarantee_passes_eight_rooms() -> None:
    rooms = re.findall(r"^\| (\d) \| \[`\w+`\]", PAGE, re.M)
    assert rooms == [str(number) for number in range(1, 9)]


def cells(row: tuple[Any, ...]) -> str:
    """Return a row as Markdown."""
    texts = ("" if value is None else str(value).replace("|", "\\|") for value in row)
    return f"| {' | '.join(texts)} |"


def test_rows_are_those_of_a_build(shipped: Demonstration) -> None:
    assert len(QUERIES) == PAGE.count("```sql") >= 10
    for sql, table in QUERIES:
        _, _, *rows = table.splitlines()
        assert rows == [cells(row) for row in shipped.project.query(sql)], sql


def files_named() -> Iterator[str]:
    """Yield the files of room 8 that the page lists."""
    listed = PAGE.rpartition("of 18 Python files:")[2]
    assert listed
    pattern = r"^- \[\w+\]\(\.\./python/dbt_anonymize/([\w/]+)\)(.*)"
    for folder, files in re.findall(pattern, listed, re.M):
        yield from (f"{folder}/{name}" for name in re.findall(r"`(\w+\.py)`", files))
    assert "of the extensions `recoding`, `second_month` and `external_efforts`, `decl" in listed
    yield from ("privacy/l_diversity.py", "literals.py")
    yield from (f"extensions/{name}/declared.py" for name in EXTENSIONS)


@pytest.mark.needs(*EXTENSIONS)
def test_verify_judges_in_the_files_that_are_named(
    demo: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    called: set[str] = set()

    def remember(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            called.add(path.relative_to(PACKAGE).as_posix())

    judge = Recount.judge

    def judge_watched(self: Recount, guarantee: dict[str, Any]) -> Any:
        before = sys.getprofile()
        sys.setprofile(remember if guarantee["model"] == "l_diversity" else before)
        try:
            return judge(self, guarantee)
        finally:
            sys.setprofile(before)

    monkeypatch.setattr(Recount, "judge", judge_watched)
    project = find_project(demo.copy(tmp_path / "project").folder)
    (spec,) = load_specs(project.root, ["fertility_clinic"])
    found = [*verification.verify(project, spec, checks=["guarantees"])]
    text = [f"{one.status:<8}  {one.check:<13}  {one.subject}: {one.message}" for one in found]
    assert re.findall(r"^```text\n(.*)\n```", PAGE, re.M)[0] in text
    assert called == {*files_named()}
    assert len(called) == 18
