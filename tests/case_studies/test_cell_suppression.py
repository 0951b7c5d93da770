"""The page of cell suppression shows what a build gives, and what it concludes holds."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.case_studies.building import build
from tests.case_studies.cells import CELLS, NAME, rows
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import is_available


@pytest.mark.slow
@pytest.mark.skipif(not is_available(NAME), reason="needs adult (DBT_ANONYMIZE_DATA)")
def test_the_page_shows_what_the_build_gives(tmp_path: Path) -> None:
    built = build(tmp_path, [NAME])
    page = CasePage(NAME)
    assert page.text == page.confirmed(partial(rows, built), lambda _: "")
    lost = {row["effort"]: row for row in rows(built, CELLS)}
    assert lost[1]["lost"] > 3.9 * lost[2]["lost"] > 3.9 * lost[3]["lost"]
    assert lost[2]["lost"] < lost[4]["lost"] < 1.5 * lost[2]["lost"]
    results = {row["effort"]: row for row in rows(built, f"{NAME}_results")}
    assert [results[n]["suppressed_records"] for n in (1, 2, 4)] == [2354, 4, 0]
    assert all(row["qf_mean"] > results[0]["qf_mean"] - 0.01 for row in results.values())
    assert abs(results[2]["qf_mean"] - results[3]["qf_mean"]) < 0.001
    loss = {row["effort"]: row["loss"] for row in rows(built, f"{NAME}_information_loss")}
    assert loss[5] < min(loss[n] for n in (1, 2, 3, 4))
