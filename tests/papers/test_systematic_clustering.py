"""The page of the thesis shows what is computed, and its comparisons follow from it."""

from __future__ import annotations

import re

import pytest

from tests.case_studies.clusters import ARE_AVAILABLE, SIZES, TABLES, row
from tests.conftest import Demonstration
from tests.papers.pages import table_of, with_queries
from tests.papers.systematic_clustering import (
    PAGE,
    PUBLISHED,
    SEEDS,
    baselines,
    confirmed,
    drawn,
    shown,
)

TEXT = PAGE.read_text("utf-8")


def test_the_page_shows_what_a_build_gives(shipped: Demonstration) -> None:
    assert with_queries(TEXT, shipped.project.query) == TEXT


@pytest.mark.sampled_tests(group="figures")
def test_a_sample_of_its_tables_is_computed() -> None:
    found = shown(baselines("wdbc", 50))
    assert f"| {' | '.join(found.values())} |" in table_of(TEXT, "needed")
    (low, high) = re.findall(r"\| wdbc \| 50 \|[^|]*\| [\d.]+ \(([\d.]+) to ([\d.]+)\)", TEXT)[0]
    gain = drawn("wdbc", 50, SEEDS[0], halve=False) / drawn("wdbc", 50, SEEDS[0], halve=True)
    assert float(low) - 0.0005 <= gain <= float(high) + 0.0005


def test_published_losses_are_proportional_to_k() -> None:
    ratios = {k: traditional / proposed for k, (traditional, proposed) in PUBLISHED.items()}
    assert ", ".join(f"{ratio:.2f}" for ratio in ratios.values()) in TEXT
    per_record = [[loss / k for loss in losses] for k, losses in PUBLISHED.items()]
    traditional, proposed = zip(*per_record, strict=True)
    assert (f"{min(traditional):.1f}", f"{max(traditional):.1f}") == ("11.8", "13.0")
    assert (f"{min(proposed):.1f}", f"{max(proposed):.1f}") == ("3.7", "4.3")
    growth = [last / first for first, last in zip(PUBLISHED[10], PUBLISHED[50], strict=True)]
    assert [f"{times:.1f}" for times in growth] == ["5.5", "5.8"]


@pytest.mark.slow
@pytest.mark.skipif(not ARE_AVAILABLE, reason="needs adult and cup (DBT_ANONYMIZE_DATA)")
def test_the_page_shows_what_is_computed() -> None:
    assert confirmed(TEXT) == TEXT
    found = [baselines(name, size) for name in TABLES for size in SIZES]
    for way, low, high in (("datafly", 2.0, 8.2), ("mondrian", 0.9, 1.6), ("blocks", 1.1, 2.1)):
        gains = [one[way] for one in found]
        assert (round(min(gains), 1), round(max(gains), 1)) == (low, high)
    halved = [row(name, size)["halved_gain"] for name in TABLES for size in SIZES]
    assert (round(min(halved), 1), round(max(halved), 1)) == (1.2, 1.5)
    grown = [row(name, 50)["one_pass"] / row(name, 10)["one_pass"] for name in TABLES]
    assert [round(times, 1) for times in grown] == [2.2, 1.7, 1.8]
