"""Numbers of people among others: honest columns are silent, and what was planted is found."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.extensions.identifier_search.coincidence import controls, is_beyond

pytestmark = pytest.mark.costly


def counts(identifier: np.ndarray, column: np.ndarray) -> bool:
    """Return whether the numbers of an identifier count in a column."""
    people = [f"{number:010}" for number in np.unique(identifier)]
    beside = controls(people)
    assert not set(beside) & set(people)
    cells = {f"{number:010}" for number in column}
    return is_beyond(len(cells & set(people)), len(people), len(cells & set(beside)), len(beside))


# Range and number of an identifier, and of an honest column beside it.
HONEST = {
    "members, amounts": ((10**7, 10**8, 3000), (10**7, 10**8, 50_000)),
    "telephones, order numbers": ((10**9, 10**10, 2000), (10**9, 10**10, 100_000)),
    "dense members, orders of the same range": (
        (2_024_000_000, 2_024_008_000, 2000),
        (2_024_000_000, 2_024_040_000, 8000),
    ),
    "telephones, few others": ((10**9, 10**10, 2000), (10**7, 10**8, 500)),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", HONEST)
def test_honest_columns_are_silent(name: str) -> None:
    """However many are equal; of four pairs of independent numbers none counts."""
    for seed in range(4):
        chance = np.random.default_rng(seed)
        identifier, column = (chance.integers(low, high, n) for low, high, n in HONEST[name])
        assert not counts(identifier, column), seed


@pytest.mark.parametrize("name", HONEST)
def test_a_column_of_an_identifier_counts(name: str) -> None:
    chance = np.random.default_rng(1)
    identifier, others = (chance.integers(low, high, n) for low, high, n in HONEST[name])
    assert counts(identifier, identifier)
    assert counts(identifier, np.concatenate([identifier, others[: len(identifier) // 10]]))


def test_one_number_counts_where_no_other_has_its_size() -> None:
    identifier = np.random.default_rng(1).integers(10**9, 10**10, 5000)
    assert counts(identifier, identifier[:1])
    assert not counts(identifier, np.array([], dtype=np.int64))


def test_controls_are_written_like_the_numbers() -> None:
    made = controls(["+49 (113) 4960-5577", "12345678901234567890123"])
    assert {len(text) for text in made} == {19, 23}
    assert all(text.startswith(("+49 (113) 496", "12345678901234567")) for text in made)
