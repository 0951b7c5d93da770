"""The page of clustering shows what is counted, and what it concludes holds."""

from __future__ import annotations

import pytest

from tests.case_studies import clusters
from tests.case_studies.clusters import ARE_AVAILABLE
from tests.case_studies.pages import CasePage


@pytest.mark.sampled_tests(group="figures")
def test_halving_gains_less_than_its_k_on_the_smaller_table() -> None:
    """Counted without dbt, in a second."""
    row = clusters.row("wdbc", 50)
    assert row["halved_smallest"] == row["half_size_smallest"] == 25
    assert 1 < row["halved_gain"] < row["half_size_gain"]


@pytest.mark.slow
@pytest.mark.skipif(not ARE_AVAILABLE, reason="needs adult and cup (DBT_ANONYMIZE_DATA)")
def test_the_page_shows_what_is_counted() -> None:
    page = CasePage(clusters.NAME)
    assert page.text == page.confirmed(lambda _: clusters.rows(), lambda _: "")
    for row in clusters.rows():
        size = row["cluster_size"]
        assert row["one_pass_smallest"] == row["two_passes_smallest"] == size
        assert row["halved_smallest"] == row["half_size_smallest"] == size // 2
        assert 1.15 < row["halved_gain"] < row["half_size_gain"]
        assert 0.97 < row["two_passes_gain"] < 1.11
