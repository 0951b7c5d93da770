"""Systematic clustering, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.recoding.systematic import systematic_clusters
from dbt_anonymize.extensions.recoding.tuples import Category, Number, Tuples
from tests.oracle.clustering import Counted, systematic
from tests.oracle.grouping import Row
from tests.sampling import examples

# Leaves of a hierarchy with two levels below the root; powers of two, so that no sum is rounded.
PATHS = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "z")]
TREE = np.array([[0, 1, 2, 3, 4, -1], [0, 0, 1, 1, 2, -1]])
_record = st.tuples(
    st.one_of(st.none(), st.integers(0, 16)),
    st.one_of(st.none(), st.integers(0, len(PATHS) - 1)),
)


def _counted(records: list[tuple[int | None, int | None]]) -> list[tuple[tuple[float, int], int]]:
    placed = Counter(
        (np.inf if age is None else age / 16, len(PATHS) if city is None else city)
        for age, city in records
    )
    return sorted(placed.items())


def _row(number: float, leaf: int) -> Row:
    return (None if number == np.inf else number, PATHS[leaf] if leaf < len(PATHS) else None)


@given(
    st.lists(_record, min_size=1, max_size=40),
    st.sampled_from([2, 3, 4, 5]),
    st.sampled_from([{}, {"passes": 2}, {"halve": True}]),
)
@examples(settings(deadline=None, database=None), 2000, 60)
def test_clusters_are_those_of_the_definition(
    records: list[tuple[int | None, int | None]], k: int, kind: dict[str, int]
) -> None:
    if "halve" in kind:
        k *= 2
    counted = _counted(records)
    numbers = np.array([n if n < np.inf else np.nan for (n, _), _ in counted])
    leaves = np.array([leaf for (_, leaf), _ in counted])
    counts = np.array([count for _, count in counted])
    tuples = Tuples([Number(numbers), Category(leaves, TREE)], counts)
    found = systematic_clusters(tuples, k, **kind)  # type: ignore[arg-type]
    rows: list[Counted] = [(_row(*place), count) for place, count in counted]
    clusters: dict[int, set[Row]] = {}
    for (row, _), number in zip(rows, found.tolist(), strict=True):
        clusters.setdefault(number, set()).add(row)
    assert set(map(frozenset, clusters.values())) == systematic(rows, k, **kind)  # type: ignore[arg-type]
    least = k // 2 if "halve" in kind else k
    assert min(np.bincount(found, weights=counts)) >= min(least, len(records))
    assert sorted(set(found.tolist())) == list(range(len(clusters)))


def test_halving_is_what_makes_clusters_smaller_than_k() -> None:
    chance = np.random.default_rng(1)
    tuples = Tuples([Number(np.sort(chance.random(200)))], np.ones(200, dtype=np.int64))
    sizes = {
        name: np.bincount(systematic_clusters(tuples, 10, **kind)).min()  # type: ignore[arg-type]
        for name, kind in {"one": {}, "two": {"passes": 2}, "halved": {"halve": True}}.items()
    }
    assert sizes == {"one": 10, "two": 10, "halved": 5}


def test_nobody_is_in_no_cluster() -> None:
    tuples = Tuples([Number(np.zeros(0))], np.zeros(0, dtype=np.int64))
    assert systematic_clusters(tuples, 3, halve=True).tolist() == []


@pytest.mark.parametrize("k", [2, 7])
def test_equal_records_stay_together(k: int) -> None:
    tuples = Tuples([Number(np.array([0.0, 0.5, 1.0]))], np.array([5, 1, 9]))
    found = systematic_clusters(tuples, k)
    assert len(set(found.tolist())) == (2 if k == 2 else 1)
