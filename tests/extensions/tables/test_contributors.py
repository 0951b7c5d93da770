"""Knowledge of contributors: of one hidden cell where people are counted once, else of several."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize import suppress_table
from dbt_anonymize.extensions.tables.contributors import telling_knowledge

WARDS = ("north", "south", "west")


@pytest.mark.parametrize("seed", range(8))
def test_each_cell_that_tells_is_found_and_no_other(seed: int) -> None:
    random = np.random.default_rng(seed)
    largest = random.integers(0, 5, 12).astype(float)
    telling = {int(cell) for cell in random.choice(12, 3, replace=False)}

    def tells(least: np.ndarray) -> bool:
        return any(least[cell] > 1 for cell in telling)

    everybody = np.ones(12)
    found = telling_knowledge(everybody, largest, np.arange(12), are_apart=True, tells=tells)
    raised = [np.flatnonzero(least > everybody).tolist() for least in found]
    assert sorted(raised) == [[cell] for cell in sorted(telling) if largest[cell] > 1]


def cells_of(amounts: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    """Return counts and sums of all cells of people with an amount each."""
    ages = sorted({age for _, age in amounts})
    rows = []
    for ward, age in itertools.product((*WARDS, None), (*ages, None)):
        own = [
            amount
            for cell, all_of_cell in amounts.items()
            for amount in all_of_cell
            if ward in {None, cell[0]} and age in {None, cell[1]}
        ]
        first, second = sorted([*own, 0.0, 0.0], reverse=True)[:2]
        rows.append((ward, age, len(own), sum(own), first, second))
    return pd.DataFrame(rows, columns=["ward", "age", "people", "cost", "first", "second"])


def test_who_has_most_of_a_hidden_cell_cannot_tell_another_one() -> None:
    """One has 100 of 102 in the south, so that only 2 are uncertain to her."""
    amounts = {(ward, age): [10.0] * 12 for ward in WARDS for age in ("old", "young")}
    amounts[("north", "old")] = [80.0, *[0.5] * 11]
    amounts[("south", "old")] = [100.0, *[2 / 11] * 11]
    shown = suppress_table(
        cells_of(amounts),
        dimensions=["ward", "age"],
        count="people",
        sums={"cost": ("first", "second")},
        p_percent=10,
    )
    hidden = shown[shown["status"] == "hidden"]
    of_old = {*hidden[hidden["age"] == "old"]["ward"].fillna("all")}
    assert of_old >= {"north", "south"}
    assert of_old & {"west", "all"}, "she would tell 80 to 2"
