"""The SQL that the macros write is laid out as somebody would write it; `make lint` reads all."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlfluff

from tests.projects import REPOSITORY

GOLDEN = sorted((Path(__file__).parent / "sql").glob("*.sql"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_linter_finds_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = sqlfluff.lint(text, config_path=str(REPOSITORY / ".sqlfluff"))
    assert [(f["code"], f["start_line_no"], f["description"]) for f in found] == []


def test_the_linter_finds_what_is_wrong() -> None:
    found = sqlfluff.lint("SELECT a FROM b\n", config_path=str(REPOSITORY / ".sqlfluff"))
    assert {violation["code"] for violation in found} == {"CP01"}
