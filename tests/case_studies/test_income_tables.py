"""The page of tables of incomes shows what a build gives, and what it concludes holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_studies import tables
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import is_available


@pytest.mark.slow
@pytest.mark.skipif(not is_available(tables.NAME), reason="needs adult (DBT_ANONYMIZE_DATA)")
def test_the_page_shows_what_the_build_gives(tmp_path: Path) -> None:
    rows = tables.reader(tables.build(tmp_path))
    page = CasePage(tables.NAME)
    assert page.text == page.confirmed(rows, lambda _: "")
    hide, coarser, noise, rounded = sorted(
        rows(f"{tables.NAME}_table_results"), key=lambda row: int(row["effort"])
    )
    assert rounded["is_chosen"]
    assert not noise["qualifies"]
    assert noise["qnf"] == pytest.approx(3 / (3 + tables.LEAST - 1))
    assert 0 < noise["qf"] - rounded["qf"] < 0.01
    assert coarser["qf"] < hide["qf"] < rounded["qf"] - 1 / 3
    alone, protected = rows(f"{tables.NAME}.py")
    assert alone["told_too_closely"] == alone["small_cells"] < 2 * alone["told_exactly"]
    assert protected["told_exactly"] == protected["told_too_closely"] == 0
