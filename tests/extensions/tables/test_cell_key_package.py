"""Noise equals that of the package `cell-key-perturbation`, cell by cell."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.tables.cell_keys import (
    PerturbationTable,
    perturbation_table,
    perturbed,
    read_perturbation_table,
)

pytestmark = pytest.mark.costly

if importlib.util.find_spec("cell_key_perturbation") is None:
    pytest.skip(
        "NOT TESTED: cell-key-perturbation. Run `pip install cell-key-perturbation`.",
        allow_module_level=True,
    )

DIMENSIONS = ["ward", "age", "month"]
MARGINS = [["ward"], ["ward", "age"], ["age", "month"], ["ward", "age", "month"], ["everyone"]]


def microdata(keys: int) -> pd.DataFrame:
    """Return records with keys: large and small cells, and many empty ones."""
    random = np.random.default_rng(37)
    records = 4_000
    chances = [0.6, 0.3, 0.09, 0.009, 0.001]
    return pd.DataFrame(
        {
            "ward": random.choice(5, records, p=chances),
            "age": random.choice(5, records, p=chances),
            "month": random.integers(0, 12, records),
            "everyone": 0,
            "record_key": random.integers(0, keys, records),
        }
    )


def by_the_package(data: pd.DataFrame, ptable: pd.DataFrame, margin: list[str]) -> pd.DataFrame:
    """Return the cells of a margin, with their counts before and after."""
    from cell_key_perturbation.create_perturbed_table import create_perturbed_table

    return create_perturbed_table(data, ptable, [], margin, "record_key", threshold=0)


def by_us(
    data: pd.DataFrame, table: PerturbationTable, margin: list[str], factor: int = 1
) -> dict[tuple[int, ...], int]:
    """Return the count after noise of each cell that has records."""
    cells = data.groupby(margin)["record_key"].agg(["size", "sum"])
    results = perturbed(cells["size"].to_numpy(), cells["sum"].to_numpy() * factor, table)
    labels = [key if isinstance(key, tuple) else (key,) for key in cells.index]
    return dict(zip(labels, results.tolist(), strict=True))


def assert_equal_cells(found: dict[tuple[int, ...], int], package: pd.DataFrame) -> None:
    """Compare all cells, those without records too, which stay 0."""
    names = [name for name in package.columns if name in (*DIMENSIONS, "everyone")]
    theirs = {
        tuple(row[:-1]): row[-1] for row in package[[*names, "count"]].itertuples(index=False)
    }
    assert set(found) <= set(theirs)
    assert {cell: found.get(cell, 0) for cell in theirs} == theirs


def all_keys(rows: int, keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and keys of the lines of a table."""
    return np.repeat(np.arange(1, rows + 1), keys), np.tile(np.arange(keys), rows)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("margin", MARGINS, ids="-".join)
def test_with_a_table_of_an_office(tmp_path: Path, margin: list[str]) -> None:
    counts, keys = all_keys(750, 256)
    changes = np.random.default_rng(5).integers(-np.minimum(counts, 4), 5)
    ptable = pd.DataFrame({"pcv": counts, "ckey": keys, "pvalue": changes})
    ptable.to_csv(tmp_path / "ptable.csv", index=False)
    table = read_perturbation_table(tmp_path / "ptable.csv")
    assert (table.keys, table.rows, table.period) == (256, 751, 250)
    data = microdata(256)
    package = by_the_package(data, ptable, margin)
    assert_equal_cells(by_us(data, table, margin), package)
    is_changed = package["pvalue"] != 0
    assert is_changed.any()
    if margin in (["ward"], ["everyone"]):
        assert package["pre_sdc_count"].max() > 750


@pytest.mark.sampled(2)
@pytest.mark.parametrize("margin", MARGINS, ids="-".join)
def test_with_our_own_table(margin: list[str]) -> None:
    """Write our table for 4096 keys; ours are those times 2^20, so that they share their ends."""
    table = perturbation_table(variance=2, largest=5, forbidden=(1, 2))
    counts, keys = all_keys(750, 4096)
    changes = perturbed(counts, keys * 2**20, table) - counts
    ptable = pd.DataFrame({"pcv": counts, "ckey": keys, "pvalue": changes})
    data = microdata(4096)
    package = by_the_package(data, ptable, margin)
    found = by_us(data, table, margin, 2**20)
    assert_equal_cells(found, package)
    assert not {1, 2} & set(found.values())


def test_the_rounding_table_that_the_package_makes(tmp_path: Path) -> None:
    from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

    generate_ptable_10_5_rule().to_csv(tmp_path / "ptable.csv", index=False)
    table = read_perturbation_table(tmp_path / "ptable.csv")
    counts = np.arange(1_200)
    results = perturbed(counts, np.full(1_200, 77), table)
    expected = [0 if count < 10 else 5 * round(count / 5) for count in counts.tolist()]
    assert results.tolist() == expected
