"""Short numbers and days: honest columns are silent, and copies are found, of many kinds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dbt_anonymize.verify.identifiers.coincidence import Entries, Seen, beyond_chance

Draw = Callable[[np.random.Generator], np.ndarray]


def scattered(low: int, high: int, number: int) -> Draw:
    return lambda chance: chance.choice(np.arange(low, high), number, replace=False)


def drawn(low: int, high: int, rows: int) -> Draw:
    """Give what a column of so many rows has, of which some are equal."""
    return lambda chance: chance.integers(low, high, rows)


def found(identifier: np.ndarray, column: np.ndarray, *, days: bool = False) -> int:
    """Return how many values of an identifier count in a column."""
    seen = Seen.days() if days else Seen()
    for part in np.array_split(column, 3):
        seen.add(part)
    numbers = np.unique(identifier)
    everyone = np.arange(len(numbers))
    entries = Entries(numbers, everyone, everyone, 1.0)
    return int(beyond_chance(entries, seen, None if days else lambda: len(column)).sum())


# What identifiers are, and honest columns beside them.
HONEST = {
    "serial keys, costs": (scattered(1, 501, 500), drawn(1, 501, 500)),
    "serial keys, few costs": (scattered(1, 501, 500), drawn(1, 40, 500)),
    "serial keys, costs of wider range": (scattered(1, 501, 500), drawn(1, 2000, 450)),
    "house numbers, visits": (drawn(1, 60, 500), drawn(1, 45, 500)),
    "a few numbers, visits": (scattered(1, 60, 12), drawn(1, 100, 400)),
    "members, row numbers": (
        scattered(100_000, 199_999, 3000),
        lambda _: np.arange(100_000, 140_000),
    ),
    "members, amounts": (scattered(100_000, 999_999, 3000), drawn(100_000, 999_999, 50_000)),
    "dense members, rows of a part": (
        scattered(100_000, 105_000, 4900),
        lambda _: np.arange(101_000, 103_000),
    ),
    "dense members, a few amounts": (
        scattered(100_000, 105_000, 4900),
        drawn(100_000, 999_999, 300),
    ),
}
HONEST_DAYS = {
    "births, visits of a year": (drawn(700_000, 730_000, 2000), drawn(729_635, 730_000, 2000)),
    "infants, visits": (drawn(729_600, 730_000, 200), drawn(729_700, 730_065, 60)),
    "births, weddings": (drawn(700_000, 730_000, 20_000), drawn(705_000, 730_000, 20_000)),
    "infants of a month, a week": (
        drawn(729_970, 730_000, 40),
        lambda _: np.arange(729_980, 729_987),
    ),
}


@pytest.mark.parametrize("name", [*HONEST, *HONEST_DAYS])
def test_honest_columns_are_silent(name: str) -> None:
    """Of 25 pairs at most one shows anything, and that is one or two values by chance."""
    identifier, column = (HONEST | HONEST_DAYS)[name]
    counts = []
    for seed in range(25):
        chance = np.random.default_rng(seed)
        counts.append(found(identifier(chance), column(chance), days=name in HONEST_DAYS))
    assert sum(count > 0 for count in counts) <= 1
    assert max(counts) <= 2


@pytest.mark.parametrize(
    ("identifier", "others", "days"),
    [
        pytest.param(scattered(1, 501, 500), [], False, id="serial keys"),
        pytest.param(scattered(1000, 9999, 400), [], False, id="four digits"),
        pytest.param(scattered(100_000, 105_000, 4900), [], False, id="dense members"),
        pytest.param(
            scattered(100_000, 999_999, 3000),
            range(500_000, 700_000),
            False,
            id="among row numbers",
        ),
        pytest.param(drawn(700_000, 730_000, 2000), [], True, id="days of birth"),
        pytest.param(
            drawn(700_000, 730_000, 2000), range(729_635, 730_000), True, id="births and visits"
        ),
    ],
)
def test_columns_of_an_identifier_are_found(identifier: Draw, others: range, *, days: bool) -> None:
    values = identifier(np.random.default_rng(1))
    kept = values[: round(0.95 * len(values))]
    column = np.concatenate([kept, np.array(others, dtype=np.int64)])
    assert found(values, column, days=days) >= 0.9 * len(np.unique(kept))


def test_what_nobody_has_is_nothing() -> None:
    assert found(np.arange(10), np.array([], dtype=np.int64)) == 0
    assert found(np.arange(10), np.array([99_999_999])) == 0
