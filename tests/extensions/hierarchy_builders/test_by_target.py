"""Trees over categories by what they mean for a target."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.by_target import TargetCounts, merge_by_target
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

CITIES = [f"city {place:02d}" for place in range(30)]
RECORDS = {city: 100 + 7 * place % 50 for place, city in enumerate(CITIES)}


def hidden(city: str) -> bool:
    """Tell to which of two groups a city belongs, in no order of names or records."""
    return CITIES.index(city) * 11 % 30 < 12


def drawn(rates: tuple[float, float], *, is_amount: bool = False) -> dict[str, TargetCounts]:
    """Return counts of two classes, or of numbers, of 30 categories in two hidden groups."""
    draw = np.random.default_rng(3)
    found = {}
    for city, count in RECORDS.items():
        rate = rates[hidden(city)]
        if is_amount:
            sums = (count, float(draw.normal(rate, 0.3, count).sum()))
        else:
            first = int(draw.binomial(count, rate))
            sums = (first, count - first)
        found[city] = TargetCounts(count, sums)
    return found


def groups(tree: CategoricalHierarchy, level: int) -> set[frozenset[str]]:
    """Return the values of each group of a level."""
    labels = tree.labels[level - 1]
    return {
        frozenset(v for v, own in zip(tree.values, labels, strict=True) if own == label)
        for label in labels
    }


@pytest.mark.parametrize("is_amount", [False, True])
def test_thirty_categories_are_split_where_two_hidden_groups_differ(is_amount: bool) -> None:
    seen = drawn((0.2, 0.5), is_amount=is_amount)
    tree = merge_by_target(RECORDS, seen, k=5, is_amount=is_amount)
    assert not violations(tree)
    assert groups(tree, tree.levels - 1) == {
        frozenset(city for city in CITIES if hidden(city) is side) for side in (True, False)
    }
    sizes = [len(set(level)) for level in tree.labels]
    assert sizes == [15, 8, 4, 2, 1]
    # No level asks for more than the groups below can give.
    assert all(b <= a for a, b in pairwise(sizes))


def test_several_classes_are_told_apart_where_their_first_one_is_not() -> None:
    shares = {"a": (50, 40, 10), "b": (50, 10, 40), "c": (50, 38, 12), "d": (50, 11, 39)}
    seen = {value: TargetCounts(100, counts) for value, counts in shares.items()}
    tree = merge_by_target(dict.fromkeys(shares, 100), seen, k=5)
    assert groups(tree, 1) == {frozenset("ac"), frozenset("bd")}


def test_each_merge_loses_the_least_information() -> None:
    """A second computation tries all pairs by the definition of mutual information."""
    draw = np.random.default_rng(8)
    counts = {value: draw.integers(5, 60, 3) for value in "abcdef"}
    seen = {
        value: TargetCounts(int(own.sum()), tuple(own.tolist())) for value, own in counts.items()
    }
    records = {value: one.subjects for value, one in seen.items()}

    def information(parts: list[str]) -> float:
        table = np.array([sum(counts[value] for value in part) for part in parts], dtype=float)
        joint = table / table.sum()
        expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
        return float((joint * np.log(joint / expected)).sum())

    parts = list("abcdef")
    for size in (3, 2):
        while len(parts) > size:
            merged = [
                [*(part for part in parts if part not in pair), pair[0] + pair[1]]
                for pair in combinations(parts, 2)
            ]
            parts = max(merged, key=information)
        tree = merge_by_target(records, seen, k=5)
        assert groups(tree, 1 if size == 3 else 2) == set(map(frozenset, parts))


def test_the_target_of_rare_categories_never_changes_the_tree() -> None:
    seen = drawn((0.2, 0.5))
    rare = {f"village {place}": 1 + place for place in range(4)}
    records = RECORDS | rare
    trees = {
        merge_by_target(
            records,
            seen | {v: TargetCounts(n, (n, 0) if is_first else (0, n)) for v, n in rare.items()},
            k=5,
        )
        for is_first in (True, False)
    }
    trees.add(merge_by_target(records, seen, k=5))
    (tree,) = trees
    assert not [label for level in tree.labels for label in level if "village" in label]
    labels = dict(zip(tree.values, zip(*tree.labels, strict=True), strict=True))
    assert len({labels[village] for village in rare}) == 1


def test_rare_categories_are_pooled_first_however_many_there_are() -> None:
    seen = {"a": TargetCounts(90, (60, 30)), "b": TargetCounts(80, (10, 70))}
    records = {"a": 90, "b": 80, "x": 3, "y": 4, "z": 2}
    tree = merge_by_target(records, seen | {"x": TargetCounts(3, (3, 0))}, k=5)
    assert groups(tree, 1) == {frozenset("a"), frozenset("b"), frozenset("xyz")}
    assert set(tree.labels[0]) == {"a", "b", "other (3 values)"}
    # So few are no group of their own.
    tree = merge_by_target({"a": 90, "b": 80, "x": 3}, seen, k=5)
    assert [len(group) for group in groups(tree, 1)] in ([1, 2], [2, 1])


def test_labels_name_the_first_members_by_their_first_words() -> None:
    values = [f"{word} and all that belongs to it" for word in ("abc", "abd", "abe", "abf", "abg")]
    seen = {value: TargetCounts(50, (25, 25)) for value in values} | {
        "z": TargetCounts(50, (50, 0))
    }
    tree = merge_by_target(dict.fromkeys(seen, 50), seen, k=5)
    assert tree.labels[1][0] == "abc and all that… | abd and all that… +3"
    assert "z" in tree.labels[1]
    # Beginnings that coincide name values whole.
    same = {f"the very same beginning of {letter}": 50 for letter in "pqrs"}
    seen = {v: TargetCounts(50, (50, 0) if v[-1] in "pq" else (0, 50)) for v in same}
    assert len(set(merge_by_target(same, seen, k=5).labels[0])) == 2


@pytest.mark.parametrize("records", [{}, {"a": 9}, {"a": 9, "b": 9}, {"a": 9, "*": 9, "c": 9}])
def test_what_no_tree_fits_is_refused(records: dict[str, int]) -> None:
    seen = {value: TargetCounts(count, (count, 0)) for value, count in records.items()}
    with pytest.raises(HierarchyError):
        merge_by_target(records, seen, k=5)
