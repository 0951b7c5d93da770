"""The recount of the guarantees against the oracle, which counts in fractions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.privacy.k_map import estimated_k
from dbt_anonymize.privacy.table import ValueCounts
from dbt_anonymize.verify.recomputation.models import ClassCounts, Values
from tests.oracle import privacy as oracle

pytestmark = pytest.mark.costly

# Values of the table in their order, and their labels at levels 1 and 2 of a tree of height 3.
VALUES = "abcdef"
TREE = ("uuuvvw", "xxxxxy")
CLASSES = st.lists(
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=9), min_size=1, max_size=5
)
REST = st.lists(st.sampled_from(VALUES), max_size=20)
# Limits that small counts meet exactly.
LIMITS = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0])
Guarantee = dict[str, Any]


def counts_of(classes: list[list[str]], rest: list[str], everybody: int = 0) -> ClassCounts:
    """Count classes, and the whole table that has the rest besides."""
    totals = Counter([value for members in classes for value in members] + rest)
    texts = sorted(totals)
    cells = [
        (number, texts.index(value), people)
        for number, members in enumerate(classes)
        for value, people in sorted(Counter(members).items())
    ]
    counted = np.array([totals[text] for text in texts])
    found = [[level[VALUES.index(text)] for text in texts] for level in TREE]
    labels = tuple(np.unique(level, return_inverse=True)[1] for level in found)
    values = Values("x", cells_of(cells), counted, tuple(texts), labels)
    sizes = np.array([len(members) for members in classes])
    return ClassCounts(sizes, everybody=everybody or totals.total(), values=values)


def cells_of(cells: list[tuple[int, int, int]]) -> ValueCounts:
    return ValueCounts(*(np.array(column) for column in zip(*cells, strict=True)))


def broken(counted: ClassCounts, model: str, **parameters: Any) -> list[bool]:
    return counted.broken({"model": model, "attribute": "x", **parameters}).tolist()


def judged(classes: list[list[str]], rest: list[str]) -> list[oracle.Class]:
    everybody = Counter([value for members in classes for value in members] + rest)
    tree = {v: (v, *(level[i] for level in TREE), "*") for i, v in enumerate(VALUES)}
    return [oracle.Class(len(m), Counter(m), everybody, tree=tree) for m in classes]


def everywhere(guarantee: Guarantee, classes: list[list[str]], rest: list[str]) -> list[bool]:
    return [oracle.breaks(guarantee, one) for one in judged(classes, rest)]


@pytest.mark.sampled(1)
@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, rest=REST, t=LIMITS)
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_t_closeness_is_the_cost_of_moving_earth(
    distance: str, classes: list[list[str]], rest: list[str], t: float
) -> None:
    guarantee = {"model": "t_closeness", "t": t, "distance": distance}
    assert broken(counts_of(classes, rest), **guarantee) == everywhere(guarantee, classes, rest)


@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, rest=REST, t=LIMITS, n=st.integers(2, 12), everybody=st.integers(1, 20))
def test_n_t_closeness_asks_the_distance_of_small_classes_only(
    classes: list[list[str]], rest: list[str], t: float, n: int, everybody: int
) -> None:
    counted = counts_of(classes, rest, everybody)
    far = broken(counted, "t_closeness", t=t)
    expected = [
        everybody < n or (len(members) < n and is_far)
        for members, is_far in zip(classes, far, strict=True)
    ]
    assert broken(counted, "n_t_closeness", t=t, n=n) == expected


@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, rest=REST, limit=LIMITS, l_=st.integers(2, 4), c=LIMITS)
def test_the_other_guarantees_are_those_of_their_definitions(
    classes: list[list[str]], rest: list[str], limit: float, l_: int, c: float
) -> None:
    counted = counts_of(classes, rest)
    alpha: Guarantee = {"model": "alpha_k_anonymity", "alpha": limit, "k": 2}
    diversity: Guarantee = {"model": "l_diversity", "l": l_}
    beta: Guarantee = {"model": "beta_likeness", "beta": limit}
    delta: Guarantee = {"model": "delta_disclosure", "delta": limit}
    for guarantee in (
        alpha,
        {**alpha, "values": ["a", "absent"]},
        diversity,
        {**diversity, "c": c, "variant": "recursive"},
        {**beta, "variant": "basic"},
        beta,
        delta,
    ):
        assert broken(counted, **guarantee) == everywhere(guarantee, classes, rest), guarantee


@pytest.mark.parametrize("copies", [1, 7, 10**7])
def test_l_equally_frequent_values_have_exactly_the_entropy_that_is_required(copies: int) -> None:
    few = copies // 7
    people = [copies, copies, copies, copies - few, copies + few, copies]
    cells = [(place // 3, place % 3, number) for place, number in enumerate(people)]
    values = Values("x", cells_of(cells), np.array([2, 2, 2]) * copies)
    counted = ClassCounts(np.array([3, 3]) * copies, values=values)
    # Rounding never refuses what is exactly at the limit.
    expected = [False, copies > 1]
    assert broken(counted, "l_diversity", l=3, variant="entropy") == expected


def test_grassbergers_entropy_of_few_records_depends_on_their_number() -> None:
    counted = counts_of([["a", "b"] * 4, ["a", "b"] * 5_001, ["a"] * 8], ["c"])
    # 4 of 8 each: G(8) - G(4) = 1/2.5 + 1/3.5 = 0.686 < ln 2. 5,001 of 10,002 are odd: more.
    for least, expected in (
        (2, [True, False, True]),
        (1.98, [False, False, True]),
        (2.4, [True, True, True]),
    ):
        assert broken(counted, "l_diversity", l=least, variant="grassberger") == expected


def test_a_value_that_the_table_lacks_breaks_what_compares_with_the_table() -> None:
    values = Values("x", cells_of([(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 2, 1)]), np.array([2, 2]))
    foreign = ClassCounts(np.array([2, 2]), everybody=4, values=values)
    for model, parameters in (
        ("t_closeness", {"t": 1.0}),
        ("t_closeness", {"t": 1.0, "distance": "ordered"}),
        ("n_t_closeness", {"t": 1.0, "n": 2}),
        ("beta_likeness", {"beta": 9.0, "variant": "basic"}),
        ("beta_likeness", {"beta": 9.0}),
        ("delta_disclosure", {"delta": 9.0}),
    ):
        assert broken(foreign, model, **parameters) == [False, True], model
    # What looks at the class alone counts it like any other value.
    assert broken(foreign, "l_diversity", l=2) == [False, False]
    assert broken(foreign, "alpha_k_anonymity", alpha=0.4, k=2) == [True, True]


def test_a_guarantee_that_can_never_hold_is_broken_by_every_class() -> None:
    counted = counts_of([["a", "b"], ["a", "b", "c"]], [])
    assert broken(counted, "l_diversity", l=4) == [True, True]
    assert broken(counted, "n_t_closeness", n=6, t=1.0) == [True, True]


def test_presence_is_a_share_of_the_population_at_both_limits() -> None:
    sizes, population = np.array([29, 30, 1, 28, 5, 1]), np.array([100, 100, 100, 100, 0, 0])
    guarantee = {"model": "delta_presence", "minimum": 0.28, "maximum": 0.29}
    found = ClassCounts(sizes, population=population).broken(guarantee)
    assert found.tolist() == [False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("estimator", "k", "people", "population", "significance", "expected"),
    [
        # lambda = 1: P(0), P(1), ... = 0.368, 0.736, 0.920, 0.981, 0.996
        ("poisson", 10, 10, 100, 0.05, 5),
        ("poisson", 10, 10, 100, 0.3, 3),
        # (P(c) - P(0)) / (1 - P(0)) = 0.582, 0.873, 0.970, 0.994
        ("zero_truncated_poisson", 10, 10, 100, 0.05, 4),
        ("zero_truncated_poisson", 10, 10, 100, 0.5, 2),
        # Never more than k, nor than there are people.
        ("poisson", 3, 50, 50, 0.05, 3),
        ("poisson", 10, 3, 30, 0.001, 3),
    ],
)
def test_the_derived_k_is_that_of_the_poisson_distribution(
    estimator: str, k: int, people: int, population: int, *, significance: float, expected: int
) -> None:
    found = estimated_k(k, people, population, significance, estimator=estimator)
    assert found == expected
