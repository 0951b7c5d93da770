"""The recount of the guarantees against the oracle, which counts in fractions."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.verify.recomputation import limits, models
from dbt_anonymize.verify.recomputation.limits import declared, exceeds
from dbt_anonymize.verify.recomputation.models import Distribution
from tests.oracle import privacy as oracle

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


def distribution(classes: list[list[str]], rest: list[str]) -> Distribution:
    """Count classes, and the whole table that has the rest besides."""
    totals = Counter([value for members in classes for value in members] + rest)
    texts = sorted(totals)
    cells = [
        (number, texts.index(value), people)
        for number, members in enumerate(classes)
        for value, people in sorted(Counter(members).items())
    ]
    class_of, value_of, people = (np.array(column) for column in zip(*cells, strict=True))
    sizes = np.array([len(members) for members in classes])
    counted = np.array([totals[text] for text in texts])
    return Distribution(sizes, class_of, value_of, people, counted, tuple(texts))


def judged(classes: list[list[str]], rest: list[str]) -> list[oracle.Class]:
    everybody = Counter([value for members in classes for value in members] + rest)
    tree = {v: (v, *(level[i] for level in TREE), "*") for i, v in enumerate(VALUES)}
    return [oracle.Class(len(m), Counter(m), everybody, tree=tree) for m in classes]


def everywhere(guarantee: Guarantee, classes: list[list[str]], rest: list[str]) -> list[bool]:
    return [oracle.breaks(guarantee, one) for one in judged(classes, rest)]


@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, rest=REST, t=LIMITS)
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_t_closeness_is_the_cost_of_moving_earth(
    distance: str, classes: list[list[str]], rest: list[str], t: float
) -> None:
    d = distribution(classes, rest)
    levels: list[Any] = []
    if distance == "hierarchical":
        for labels in TREE:
            found = [labels[VALUES.index(str(text))] for text in d.texts]
            levels.append(np.array([sorted(set(found)).index(label) for label in found]))
    guarantee = {"model": "t_closeness", "t": t, "distance": distance}
    expected = everywhere(guarantee, classes, rest)
    assert models.breaks_t_closeness(d, guarantee, levels).tolist() == expected
    # The numbers of Python, for tables whose products do not fit into 64 bits.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "_FITS", 1)
        again = distribution(classes, rest)
        assert again.number is object
        assert models.breaks_t_closeness(again, guarantee, levels).tolist() == expected


@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, rest=REST, t=LIMITS, n=st.integers(2, 12), everybody=st.integers(1, 20))
def test_n_t_closeness_asks_the_distance_of_small_classes_only(
    classes: list[list[str]], rest: list[str], t: float, n: int, everybody: int
) -> None:
    d = replace(distribution(classes, rest), everybody=everybody)
    far = models.breaks_t_closeness(d, {"t": t}, []).tolist()
    expected = [
        len(members) < n and (everybody < n or is_far)
        for members, is_far in zip(classes, far, strict=True)
    ]
    guarantee = {"t": t, "n": n}
    assert models.breaks_n_t_closeness(d, guarantee, []).tolist() == expected


@settings(max_examples=150, deadline=None)
@given(classes=CLASSES, rest=REST, limit=LIMITS, l_=st.integers(2, 4), c=LIMITS)
def test_the_other_guarantees_are_those_of_their_definitions(
    classes: list[list[str]], rest: list[str], limit: float, l_: int, c: float
) -> None:
    d = distribution(classes, rest)
    alpha: Guarantee = {"model": "alpha_k_anonymity", "alpha": limit, "k": 2}
    diversity: Guarantee = {"model": "l_diversity", "l": l_}
    beta: Guarantee = {"model": "beta_likeness", "beta": limit}
    delta: Guarantee = {"model": "delta_disclosure", "delta": limit}
    for guarantee, breaks in (
        (alpha, models.breaks_alpha),
        ({**alpha, "values": ["a", "absent"]}, models.breaks_alpha),
        (diversity, models.breaks_l_diversity),
        ({**diversity, "c": c, "variant": "recursive"}, models.breaks_l_diversity),
        ({**beta, "variant": "basic"}, models.breaks_beta),
        (beta, models.breaks_beta),
        (delta, models.breaks_delta),
    ):
        expected = everywhere(guarantee, classes, rest)
        assert breaks(d, guarantee).tolist() == expected, guarantee


@pytest.mark.parametrize("copies", [1, 7, 10**7])
def test_l_equally_frequent_values_have_exactly_the_entropy_that_is_required(copies: int) -> None:
    people = np.array([copies] * 3 + [copies] * 2 + [copies])
    d = Distribution(
        np.array([3, 3]) * copies,
        np.array([0, 0, 0, 1, 1, 1]),
        np.array([0, 1, 2, 0, 1, 2]),
        np.append(people[:3], [copies - 1, copies + 1, copies]),
        np.array([2, 2, 2]) * copies,
        ("a", "b", "c"),
    )
    guarantee = {"l": 3, "variant": "entropy"}
    if copies == 1:
        d.people[3:] = [1, 1, 1]
        assert models.breaks_l_diversity(d, guarantee).tolist() == [False, False]
    elif copies == 7:
        assert models.breaks_l_diversity(d, guarantee).tolist() == [False, True]
    else:
        # Rounding never refuses what is exactly at the limit.
        assert not models.breaks_l_diversity(d, guarantee)[0]


def test_grassbergers_entropy_of_few_records_depends_on_their_number() -> None:
    d = distribution([["a", "b"] * 4, ["a", "b"] * 5_001, ["a"] * 8], [])
    n, half = 8, 4
    digamma = {4: 1.2561176684318, 8: 2.0156414779556}  # psi(n), to check G(n) = psi(n) + ...
    assert models._grassberger(np.array([n, half])).tolist() == pytest.approx(
        [
            # G(2j) = psi(j + 1/2) + ln 2 = 2 psi(2j) - psi(j) - ln 2
            2 * digamma[8] - digamma[4] - math.log(2),
            2 * digamma[4] - 0.42278433509847 - math.log(2),
        ]
    )
    # 4 of 8 each: G(8) - G(4) = 1/2.5 + 1/3.5 = 0.686 < ln 2. 5,001 of 10,002 are odd: more.
    guarantee = {"l": 2, "variant": "grassberger"}
    assert models.breaks_l_diversity(d, guarantee).tolist() == [True, False, True]
    assert models.breaks_l_diversity(d, {**guarantee, "l": 1.98}).tolist() == [False, False, True]
    assert models.breaks_l_diversity(d, {**guarantee, "l": 2.4}).tolist() == [True, True, True]


def test_a_value_that_the_table_lacks_breaks_what_compares_with_the_table() -> None:
    d = distribution([["a", "b"], ["a", "b"]], [])
    foreign = Distribution(d.sizes, d.class_of, np.array([0, 1, 0, 2]), d.people, d.totals, d.texts)
    for distance in ("equal", "ordered"):
        guarantee: Guarantee = {"t": 1.0, "distance": distance}
        assert models.breaks_t_closeness(foreign, guarantee, []).tolist() == [False, True]
    assert models.breaks_beta(foreign, {"beta": 9.0, "variant": "basic"}).tolist() == [False, True]
    assert models.breaks_delta(foreign, {"delta": 9.0}).tolist() == [False, True]


def test_presence_is_a_share_of_the_population_at_both_limits() -> None:
    sizes, population = np.array([29, 30, 1, 28, 5]), np.array([100, 100, 100, 100, 0])
    guarantee = {"minimum": 0.28, "maximum": 0.29}
    broken = models.breaks_presence(sizes, population, guarantee).tolist()
    assert broken == [False, True, True, False, True]


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
    guarantee = {"k": k, "significance": significance, "estimator": estimator}
    assert models.derived_k(guarantee, people, population) == expected


@given(st.integers(0, 10**9), st.integers(1, 10**9), st.integers(1, 10**4))
def test_a_quotient_at_a_limit_does_not_exceed_it(part: int, whole: int, thousandths: int) -> None:
    limit = thousandths / 1000
    parts = np.array([part, whole * thousandths, whole * thousandths + 1])
    wholes = np.array([whole, 1000 * whole, 1000 * whole])
    expected = [Fraction(part, whole) > Fraction(thousandths, 1000), False, True]
    assert exceeds(parts, wholes, declared(limit)).tolist() == expected
