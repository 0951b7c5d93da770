"""The table of mechanisms shows what builds cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.case_studies.mechanisms import PAGE, build, confirmed, numbers, releases
from tests.case_studies.preparation import is_available
from tests.docs.pages import DOCS, Page

TABLES = ("cell_suppression", "contraceptive_method_choice", "wisconsin_original")


def test_every_row_is_built() -> None:
    rows = re.findall(r"^\| (?!mechanism)(.*?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    for row in rows:
        assert sum(row.startswith(known) for known in releases("table")) == 1, row
    assert len(rows) == len(releases("table"))


@pytest.mark.slow
@pytest.mark.skipif(not all(map(is_available, TABLES)), reason="needs DBT_ANONYMIZE_DATA")
def test_the_page_shows_what_the_builds_give(tmp_path: Path) -> None:
    text, built = PAGE.read_text(encoding="utf-8"), build(tmp_path)
    assert text == confirmed(text, built)
    rows = Page(DOCS / "extensions" / "recoding.md").table("table", "column").records
    for row in rows:
        table, column, *figures = (cell.strip("`") for cell in row.values())
        assert figures == numbers(built, table, column)
