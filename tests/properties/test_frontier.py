"""Choices by the frontier, and the zero rule."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.experiments import (
    TIED,
    ZERO,
    Candidate,
    Effort,
    best,
    candidates_of,
    chosen_in,
    experiments,
    half_interval,
    load,
)
from tests.properties.statements import (
    QNFS,
    results_model,
)
from tests.properties.warehouse import Warehouse
from tests.worlds.hierarchies import EACH_SHAPE


def frontier_of(candidates: Mapping[int, Candidate]) -> list[int]:
    """Return the vertices, best quality first, by the definition of the concave hull.

    No other effort is at least as good in both, and no line between two others passes above.
    """

    def is_vertex(number: int, one: Candidate) -> bool:
        others = [(n, c) for n, c in candidates.items() if n != number]
        for n, other in others:
            same = (other.qf, other.qnf) == (one.qf, one.qnf)
            if other.qf >= one.qf and other.qnf >= one.qnf and (not same or n < number):
                return False
        for (_, left), (_, right) in itertools.permutations(others, 2):
            if left.qnf < one.qnf < right.qnf:
                share = (one.qnf - left.qnf) / (right.qnf - left.qnf)
                if left.qf + share * (right.qf - left.qf) >= one.qf:
                    return False
        return True

    vertices = [number for number, one in candidates.items() if is_vertex(number, one)]
    return sorted(vertices, key=lambda number: candidates[number].qnf)


def chord_of(candidates: Mapping[int, Candidate]) -> Fraction:
    """Return how much quality the frontier loses for one unit of QNF between its ends."""
    vertices = [candidates[number] for number in frontier_of(candidates)]
    if len(vertices) < 2:
        return Fraction()
    return (vertices[0].qf - vertices[-1].qf) / (vertices[-1].qnf - vertices[0].qnf)


@pytest.mark.parametrize("qnf", QNFS)
@EACH_SHAPE
@given(efforts=experiments(grain=4, may_fail=False))
def test_the_frontier_is_the_concave_hull_of_what_may_be_chosen(
    warehouse: Warehouse, qnf: str, efforts: list[Effort]
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model("auto", qnf, "auto"))
    candidates = candidates_of(efforts, qnf)
    vertices = frontier_of(candidates)
    assert {row["effort"] for row in found if row["is_on_frontier"]} == set(vertices)
    assert {r["effort"] for r in found if r["alpha_from"] is not None} == set(vertices)
    slopes = [
        (candidates[a].qf - candidates[b].qf) / (candidates[b].qnf - candidates[a].qnf)
        for a, b in itertools.pairwise(vertices)
    ]
    begins = [Fraction(0), *slopes]
    ends = [*slopes, None]
    for number, begin, end in zip(vertices, begins, ends, strict=False):
        assert found[number]["alpha_from"] == pytest.approx(float(begin))
        assert found[number]["alpha_to"] == (None if end is None else pytest.approx(float(end)))
    alpha = chord_of(candidates)
    assert [row["alpha"] for row in found] == [pytest.approx(float(alpha))] * len(found)
    assert not alpha or slopes[0] <= alpha <= slopes[-1]


# The second end of the frontier teaches nothing, however private it is.
USELESS_END = [Effort(1, 10, 0, (0.9,)), Effort(5, 10, 0, (0.9,)), Effort(500, 10, 0, (0.5,))]


@pytest.mark.parametrize("qnf", QNFS)
@EACH_SHAPE
@given(
    efforts=experiments(grain=4, may_fail=False), zero=st.sampled_from([None, Fraction(0), ZERO])
)
@example(efforts=TIED, zero=ZERO)
@example(efforts=TIED, zero=None)
@example(efforts=USELESS_END, zero=ZERO)
@example(efforts=USELESS_END, zero=Fraction(1))
@example(efforts=USELESS_END, zero=Fraction(0))
def test_the_knee_is_farthest_above_the_chord_and_best_at_the_alpha_that_is_found(
    warehouse: Warehouse, qnf: str, efforts: list[Effort], zero: Fraction | None
) -> None:
    load(warehouse, efforts, zero)
    candidates = candidates_of(efforts, qnf, zero)
    vertices = {number: candidates[number] for number in frontier_of(candidates)}
    alpha = chord_of(candidates)
    knees = warehouse.rows(results_model(0.25, qnf, "auto", "pareto_knee"))
    # The ends of the frontier tie at this alpha; where there is nothing between them, QF decides.
    is_undetermined = len(vertices) == 2
    first = list(vertices)[:1]
    assert chosen_in(knees) == (first if is_undetermined else best(vertices, alpha))
    assert {row["alpha"] for row in knees} == {0.25}
    found = warehouse.rows(results_model("auto", qnf, "auto"))
    assert chosen_in(found) == (first if is_undetermined else best(candidates, alpha))
    assert [row["alpha"] for row in found] == [pytest.approx(float(alpha))] * len(found)


def test_two_efforts_on_the_frontier_are_decided_by_their_quality(warehouse: Warehouse) -> None:
    scores = ((1.0, 0.98, 1.0, 1.0, 0.99), (0.775, 0.77, 0.78, 0.775, 0.775))
    efforts = [Effort(1, 90, 0, scores[0])]
    efforts += [Effort(k, 90, 0, own) for k, own in zip((4, 5), scores, strict=True)]
    load(warehouse, efforts, Fraction(0))
    for alpha, rule in (("auto", "max_q"), (0.25, "pareto_knee")):
        found = warehouse.rows(results_model(alpha, "k", "auto", rule))
        assert chosen_in(found) == [1]
        assert [row["choice_share"] for row in found] == [None] * 3
        assert found[1]["reason"] == (
            "chosen: highest QF of a frontier of 2 efforts, whose Q is the same at their break "
            "point, alpha 0.219"
        )
        assert found[2]["reason"] == (
            "not chosen: at the break point Q is that of effort 1 by construction, and QF 0.775 is "
            "below 0.994"
        )


def test_where_the_zero_rule_decides_nothing_beats_it(warehouse: Warehouse) -> None:
    load(warehouse, USELESS_END)
    found = warehouse.rows("results_of_zero_rule")
    assert [row["beats_zero_rule"] for row in found] == [False, True, True]
    assert found[0]["qf_mean"] == found[0]["zero_rule"]


@pytest.mark.parametrize("rule", [(0.25, "max_q"), ("auto", "max_q"), (0.25, "pareto_knee")])
def test_an_effort_that_is_not_above_the_zero_rule_does_not_qualify(
    warehouse: Warehouse, rule: tuple[float | str, str]
) -> None:
    """However private it is: with k as QNF effort 2 would win by far."""
    model = results_model(rule[0], "k", "auto", rule[1])
    load(warehouse, USELESS_END)
    found = warehouse.rows(model)
    assert [(row["zero_rule"], row["beats_zero_rule"]) for row in found] == [
        (0.5, True),
        (0.5, True),
        (0.5, False),
    ]
    assert chosen_in(found) == [1]
    assert found[1]["reason"].startswith("chosen: the only effort that qualifies")
    useless = "does not qualify: QF {} is not above that of the zero rule, which has {}"
    assert found[2]["reason"] == useless.format(0.5, 0.5)
    load(warehouse, USELESS_END, Fraction(9, 10))
    found = warehouse.rows(model)
    assert chosen_in(found) == []
    assert [row["beats_zero_rule"] for row in found] == [False] * 3
    assert [row["reason"] for row in found][1:] == [
        useless.format(0.9, 0.9),
        useless.format(0.5, 0.9),
    ]


def test_from_five_splits_on_it_must_be_surely_above(warehouse: Warehouse) -> None:
    """Both means are above the zero rule; one of them is not by more than its interval."""
    sure, unsure = (0.7, 0.71, 0.72, 0.71, 0.7), (0.9, 0.3, 0.9, 0.3, 0.9)
    load(warehouse, [Effort(1, 9, 0, sure), Effort(4, 9, 0, sure), Effort(8, 9, 0, unsure)])
    found = warehouse.rows(results_model(0.25, "k", "auto"))
    assert [row["beats_zero_rule"] for row in found] == [True, True, False]
    assert chosen_in(found) == [1]
    begin = 0.66 - 0.5 - half_interval(list(unsure))
    assert found[2]["reason"] == (
        "does not qualify: QF 0.66 is not surely above that of the zero rule, which has 0.5: the "
        f"interval of the difference begins at {begin:.4f}"
    )
    load(warehouse, [Effort(1, 9, 0, sure[:4]), Effort(8, 9, 0, unsure[:4])])
    assert chosen_in(warehouse.rows(results_model(0.25, "k", "auto"))) == [1]


def test_without_a_score_of_the_zero_rule_nothing_qualifies(warehouse: Warehouse) -> None:
    load(warehouse, USELESS_END, None)
    found = warehouse.rows(results_model(0.25, "k", "auto"))
    assert chosen_in(found) == []
    assert found[1]["reason"] == (
        "does not qualify: the zero rule lacks accuracy in some split, so nothing says that QF is "
        "above it"
    )


def test_what_was_asked_for_is_chosen_though_it_is_useless(warehouse: Warehouse) -> None:
    load(warehouse, USELESS_END)
    found = warehouse.rows(results_model(0.25, "k", 2))
    assert (chosen_in(found), found[2]["qualifies"]) == ([2], False)
    assert found[2]["reason"] == (
        "chosen: release.effort is 2, although it does not qualify: QF 0.5 is not above that of "
        "the zero rule, which has 0.5"
    )


def test_a_useless_effort_ends_the_tests_of_non_inferiority(warehouse: Warehouse) -> None:
    """Left out instead, it would let scores decide which efforts are tested."""
    good, useless = (0.9,) * 5, (0.4,) * 5
    ks = ((1, good), (3, good), (4, useless), (5, good))
    load(warehouse, [Effort(k, 90, 0, scores) for k, scores in ks])
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert [row["qualifies"] for row in found] == [False, True, False, True]
    assert chosen_in(found) == [1]
    assert found[3]["reason"] == (
        "not chosen: effort 2 with a smaller k fails, so stronger ones are not tested"
    )
