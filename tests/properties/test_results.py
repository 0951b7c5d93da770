"""Results against a recount: QF with its interval, Q, what qualifies, what is chosen and why."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from tests.properties.statements import (
    ALPHAS,
    LIMIT,
    MARGIN,
    MEASURE,
    QNFS,
    REQUIRED_K,
    TEST_SHARE,
    results_model,
)
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import COSTLY, EACH_SHAPE, HALF

# The macro documents this error of the quantile of Student's t, relative.
QUANTILE_ERROR = 1e-6
# Below so many splits nothing is said about how much they vary.
FEWEST = 5
# QF of the model that ignores the features.
ZERO = Fraction(1, 2)
NUMBERS = [alpha for alpha in ALPHAS if not isinstance(alpha, str)]
SCORES = {
    "effort": "int",
    "target": "varchar",
    "model": "varchar",
    "fit": "varchar",
    "test_on": "varchar",
    "measure": "varchar",
    "class": "varchar",
    "repetition": "bigint",
    "fold": "bigint",
    "value": "double",
}
BY_GUARANTEE = "4 k_anonymity (k = 3), 1 l_diversity of illness (l = 2)"
PRIVACY = {
    "effort": "int",
    "k": "bigint",
    "records": "bigint",
    "suppressed_records": "bigint",
    "violating_records": "bigint",
    "broken_guarantees": "varchar",
    "meets_guarantees": "boolean",
}


@dataclass(frozen=True)
class Effort:
    """One effort: its privacy and its score in each split, None where it has none."""

    k: int | None
    records: int
    suppressed_records: int
    scores: tuple[float | None, ...]


@st.composite
def experiments(
    draw: st.DrawFn,
    grain: int | None = None,
    may_fail: bool = True,
    repetitions: tuple[int, int] | None = None,
) -> list[Effort]:
    """Draw efforts with paired repetitions; with a grain, means are exact and Qs tie."""
    values: st.SearchStrategy[float | None]
    if grain is None:
        values = st.floats(0, 1, allow_subnormal=False)
    else:
        values = st.integers(0, grain).map(lambda number: number / grain)
    if may_fail:
        values = st.none() | values
    least, most = repetitions or (1, 14 if grain is None else 2)
    number = draw(st.integers(least, most))
    records = draw(st.integers(1, 60))
    return [
        Effort(
            k=draw(st.none() | st.integers(1, 8)),
            records=records,
            suppressed_records=draw(st.integers(0, max(1, records // 6))),
            scores=tuple(draw(st.lists(values, min_size=number, max_size=number))),
        )
        for _ in range(draw(st.integers(2, 7)))
    ]


def load(
    warehouse: Warehouse, efforts: list[Effort], zero: Fraction | None = ZERO, folds: int = 1
) -> None:
    """Create the quality of scores, among them some that are not QF, and the privacy.

    Without `zero` the model zero_rule has a score on other efforts and test records alone.
    """
    rows: list[tuple[object, ...]] = []
    for number, effort in enumerate(efforts):
        for place, value in enumerate(effort.scores):
            split = (place // folds + 1, place % folds + 1)
            key = (number, "outcome", "forest", "once", "original")
            # Of effort 0 alone it counts.
            baseline = 2.0 if number else zero if zero is None else float(zero)
            rows += [
                (*key, MEASURE, None, *split, value),
                (*key, "mae", None, *split, value),
                (*key, MEASURE, "a class", *split, 0.111),
                (*key, "f1", None, *split, 0.123),
                (*key[:4], "generalized", MEASURE, None, *split, 0.987),
                (*key[:3], "per_split", "original", MEASURE, None, *split, 0.986),
                (*key[:2], "zero_rule", *key[3:], MEASURE, None, *split, baseline),
                (*key[:2], "zero_rule", *key[3:], "mae", None, *split, baseline),
                (*key[:2], "zero_rule", "once", "generalized", MEASURE, None, *split, 2.0),
                (*key[:2], "zero_rule", "per_split", *key[4:], MEASURE, None, *split, 2.0),
                (number, "other", "zero_rule", *key[3:], MEASURE, None, *split, 2.0),
                (number, "other", *key[2:], MEASURE, None, *split, 0.985),
            ]
    warehouse.load("scores", SCORES, rows[::-1])
    warehouse.build("quality_of_hold_out", "quality")
    warehouse.load(
        "privacy",
        PRIVACY,
        [
            (n, e.k, e.records, e.suppressed_records, e.suppressed_records, BY_GUARANTEE, meets(e))
            for n, e in reversed(list(enumerate(efforts)))
        ],
    )


def meets(effort: Effort) -> bool:
    allowed = math.floor(Fraction(LIMIT) * effort.records)
    return effort.k is not None and effort.k >= REQUIRED_K and effort.suppressed_records <= allowed


def qualifies(number: int, effort: Effort) -> bool:
    return number > 0 and meets(effort)


def beats(effort: Effort, zero: Fraction | None) -> bool:
    """Say whether the model is better than the zero rule: surely, where splits are enough."""
    scores = [Fraction(score) for score in effort.scores if score is not None]
    qf = qf_of(effort)
    if zero is None or qf is None:
        return False
    if len(scores) < FEWEST:
        return qf > zero
    values = [float(score - zero) for score in scores]
    return statistics.fmean(values) > half_interval(values)


def qnf_of(qnf: str, k: int | None) -> Fraction | None:
    if k is None:
        return None
    return Fraction(k) if qnf == "k" else 1 - Fraction(1, k)


def qf_of(effort: Effort) -> Fraction | None:
    scores = [Fraction(score) for score in effort.scores if score is not None]
    return sum(scores, Fraction()) / len(scores) if scores else None


@dataclass(frozen=True)
class Candidate:
    """An effort that qualifies and has a score in every split in which any effort has one."""

    qf: Fraction
    qnf: Fraction
    k: int


def candidates_of(
    efforts: list[Effort], qnf: str, zero: Fraction | None = ZERO
) -> dict[int, Candidate]:
    """Return what may be chosen, by number."""
    splits = {i for e in efforts for i, score in enumerate(e.scores) if score is not None}
    found: dict[int, Candidate] = {}
    for number, effort in enumerate(efforts):
        qf, privacy = qf_of(effort), qnf_of(qnf, effort.k)
        is_complete = all(effort.scores[i] is not None for i in splits)
        if qualifies(number, effort) and is_complete and beats(effort, zero):
            assert qf is not None
            assert privacy is not None
            found[number] = Candidate(qf, privacy, effort.k or 0)
    return found


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


def best(candidates: Mapping[int, Candidate], alpha: Fraction) -> list[int]:
    """Return the number of the largest Q; ties go to the larger k, then the smaller number."""
    if not candidates:
        return []
    return [max(candidates, key=lambda n: (at(candidates[n], alpha), candidates[n].k, -n))]


def at(candidate: Candidate, alpha: Fraction) -> Fraction:
    return candidate.qf + alpha * candidate.qnf


def chosen_in(found: list[Row]) -> list[int]:
    return [row["effort"] for row in found if row["is_chosen"]]


@pytest.mark.parametrize("qnf", QNFS)
@EACH_SHAPE
@given(efforts=experiments(), alpha=st.sampled_from(NUMBERS))
def test_quality_and_its_interval_equal_a_recount(
    warehouse: Warehouse, qnf: str, efforts: list[Effort], alpha: float
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(alpha, qnf, "auto"))
    assert [row["effort"] for row in found] == list(range(len(efforts)))
    for row, effort in zip(found, efforts, strict=True):
        scores = [score for score in effort.scores if score is not None]
        qf, privacy = qf_of(effort), qnf_of(qnf, effort.k)
        assert row["repetitions"] == len(scores)
        assert (row["k"], row["suppressed_records"]) == (effort.k, effort.suppressed_records)
        assert row["alpha"] == alpha
        assert row["qnf"] == (None if privacy is None else pytest.approx(float(privacy)))
        assert row["qf_mean"] == (None if qf is None else pytest.approx(float(qf), abs=1e-12))
        q = None if qf is None or privacy is None else float(qf) + alpha * float(privacy)
        assert row["q"] == (None if q is None else pytest.approx(q))
        assert_interval(row, "qf", scores)
        differences = [
            score - baseline
            for score, baseline in zip(effort.scores, efforts[0].scores, strict=True)
            if score is not None and baseline is not None
        ]
        mean = math.fsum(differences) / len(differences) if differences else None
        assert row["qf_difference"] == pytest.approx(mean, abs=1e-12)
        assert_interval(row, "qf_difference", differences, (-1, 1))
        assert_non_inferiority(row, differences, efforts)
        assert row["zero_rule"] == (0.5 if scores else None)
        splits = {i for e in efforts for i, score in enumerate(e.scores) if score is not None}
        if len(scores) < len(splits) or not splits:
            assert row["beats_zero_rule"] is None
        elif len(scores) < FEWEST or abs(float(qf or 0) - 0.5 - half_interval(scores)) > 1e-7:
            assert row["beats_zero_rule"] == beats(effort, ZERO)


def corrected_error(values: list[float]) -> float:
    """Return the standard error with the correction of Nadeau and Bengio 2003."""
    return statistics.stdev(values) * math.sqrt(1 / len(values) + TEST_SHARE / (1 - TEST_SHARE))


def assert_interval(
    row: Row, name: str, values: list[float], scale: tuple[float, float] = (0, 1)
) -> None:
    """Check the two-sided interval of 95 %, which does not leave the scale."""
    if len(values) < FEWEST:
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (None, None)
        return
    margin = half_interval(values)
    tolerance = QUANTILE_ERROR * margin + 1e-8
    mean = statistics.fmean(values)
    lowest, highest = scale
    assert row[f"{name}_low"] == pytest.approx(max(mean - margin, lowest), abs=tolerance)
    assert row[f"{name}_high"] == pytest.approx(min(mean + margin, highest), abs=tolerance)


def half_interval(values: list[float]) -> float:
    return float(stats.t.ppf(0.975, len(values) - 1)) * corrected_error(values)


def assert_non_inferiority(row: Row, differences: list[float], efforts: list[Effort]) -> None:
    """Check the flag where rounding does not decide it."""
    splits = {i for e in efforts for i, score in enumerate(e.scores) if score is not None}
    if len(differences) < max(FEWEST, len(splits)):
        assert row["is_non_inferior"] is None
        return
    error = corrected_error(differences)
    limit = statistics.fmean(differences) - float(stats.t.ppf(0.95, len(differences) - 1)) * error
    if abs(limit + MARGIN) > 1e-6:
        assert row["is_non_inferior"] == (limit > -MARGIN)


def test_a_difference_of_exactly_the_margin_is_not_inferior(warehouse: Warehouse) -> None:
    scores = (0.9, 0.88, 0.8, 0.82, 0.9)
    worse = tuple(score - MARGIN for score in scores)
    load(warehouse, [Effort(1, 9, 0, scores), Effort(4, 9, 0, worse)])
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert [row["is_non_inferior"] for row in found] == [True, True]
    assert chosen_in(found) == [1]


@pytest.mark.parametrize("qnf", QNFS)
@EACH_SHAPE
@given(efforts=experiments(grain=4), alpha=st.sampled_from(NUMBERS))
def test_the_qualifying_effort_with_the_largest_q_is_chosen_and_ties_go_to_privacy(
    warehouse: Warehouse, qnf: str, efforts: list[Effort], alpha: float
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(alpha, qnf, "auto"))
    candidates = candidates_of(efforts, qnf)
    assert [row["qualifies"] for row in found] == [n in candidates for n in range(len(efforts))]
    assert chosen_in(found) == best(candidates, Fraction(str(alpha)))
    assert all(row["is_chosen"] in (True, False) for row in found)


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


# Two efforts on the frontier have the same Q at the alpha that is found; rounding decides nothing.
TIED = [
    Effort(1, 10, 0, (1.0,)),
    Effort(3, 10, 0, (0.93,)),
    Effort(7, 10, 0, (0.8200000001,)),
]


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
    assert chosen_in(knees) == best(vertices, alpha)
    assert {row["alpha"] for row in knees} == {0.25}
    found = warehouse.rows(results_model("auto", qnf, "auto"))
    assert chosen_in(found) == best(candidates, alpha)
    assert [row["alpha"] for row in found] == [pytest.approx(float(alpha))] * len(found)


def test_where_the_zero_rule_decides_nothing_beats_it(warehouse: Warehouse) -> None:
    load(warehouse, USELESS_END)
    found = warehouse.rows("results_of_zero_rule")
    assert [row["beats_zero_rule"] for row in found] == [False, True, True]
    assert found[0]["qf_mean"] == found[0]["zero_rule"]


def test_every_effort_before_the_chosen_one_is_non_inferior(warehouse: Warehouse) -> None:
    """Of many efforts at the margin, one passes by chance; none is tested after one that fails."""
    same, worse = (0.9, 0.88, 0.8, 0.82, 0.9), (0.8, 0.78, 0.7, 0.72, 0.8)
    load(
        warehouse,
        [Effort(k, 90, 0, scores) for k, scores in ((1, same), (3, same), (9, same))]
        + [Effort(k, 90, 0, scores) for k, scores in ((5, worse), (5, same), (4, same))],
    )
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert [row["is_non_inferior"] for row in found] == [True, True, True, False, True, True]
    assert chosen_in(found) == [5]
    not_tested = "fails, so stronger ones are not tested"
    assert [row["reason"] for row in found][1:] == [
        "not chosen: k 3 is below 4 of effort 5",
        f"not chosen: effort 3 with a smaller k {not_tested}",
        "not chosen: QF may be 0.1 below that of effort 0, which is more than the margin",
        f"not chosen: effort 3 with the same k {not_tested}",
        "chosen: highest k (4) among 2 efforts that qualify and, from the smallest k on, are "
        "non-inferior",
    ]


def test_an_effort_that_lacks_a_score_ends_the_tests(warehouse: Warehouse) -> None:
    """To test the stronger ones all the same, the scores would have decided the order."""
    same = (0.9, 0.88, 0.8, 0.82, 0.9)
    efforts = [Effort(k, 90, 0, same) for k in (1, 3, 5, 9)]
    efforts[2] = Effort(5, 90, 0, (*same[:-1], None))
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert chosen_in(found) == [1]
    assert found[2]["reason"] == "does not qualify: accuracy has a value in 4 of 5 splits"
    assert found[3]["reason"] == (
        "not chosen: effort 2 with a smaller k fails, so stronger ones are not tested"
    )


def test_without_every_score_of_the_untouched_table_nothing_is_non_inferior(
    warehouse: Warehouse,
) -> None:
    better = Effort(4, 9, 0, (0.9,) * 6)
    load(warehouse, [Effort(1, 9, 0, (0.5,) * 5 + (None,)), better])
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert [row["is_non_inferior"] for row in found] == [None, None]
    assert found[1]["qf_difference"] == pytest.approx(0.4)
    assert chosen_in(found) == []
    assert found[1]["reason"] == "not chosen: accuracy of effort 0 has a value in 5 of 6 splits"


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


@pytest.mark.parametrize("qnf", QNFS)
@EACH_SHAPE
@given(efforts=experiments(grain=16, repetitions=(4, 6)))
def test_the_strongest_non_inferior_effort_is_chosen_or_none(
    warehouse: Warehouse, qnf: str, efforts: list[Effort]
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, qnf, "auto", "strongest_non_inferior"))
    in_order = sorted(
        (effort.k or 0, number)
        for number, effort in enumerate(efforts)
        if qualifies(number, effort) and found[number]["beats_zero_rule"] is not None
    )
    passed = itertools.takewhile(
        lambda pair: found[pair[1]]["is_non_inferior"] and found[pair[1]]["beats_zero_rule"],
        in_order,
    )
    eligible = {n: Candidate(qf_of(efforts[n]) or ZERO, Fraction(k), k) for k, n in passed}
    expected = sorted(eligible, key=lambda n: (-eligible[n].k, -eligible[n].qf, n))[:1]
    assert chosen_in(found) == expected


@HALF
@given(efforts=experiments(grain=4, repetitions=(1, 6)))
def test_of_a_measure_of_error_less_is_better(warehouse: Warehouse, efforts: list[Effort]) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, "k", "auto", measure="mae"))
    errors = [
        Effort(
            e.k, e.records, e.suppressed_records, tuple(s if s is None else -s for s in e.scores)
        )
        for e in efforts
    ]
    assert chosen_in(found) == best(candidates_of(errors, "k", -ZERO), Fraction(1, 4))
    for row, effort in zip(found, errors, strict=True):
        qf = qf_of(effort)
        assert row["qf_mean"] == (None if qf is None else pytest.approx(float(qf)))
        scores = [score for score in effort.scores if score is not None]
        assert_interval(row, "qf", scores, (-math.inf, 0))
        differences = [
            score - baseline
            for score, baseline in zip(effort.scores, errors[0].scores, strict=True)
            if score is not None and baseline is not None
        ]
        assert_interval(row, "qf_difference", differences, (-math.inf, math.inf))
        assert_non_inferiority(row, differences, efforts)


@HALF
@given(
    scores=st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=9),
    ks=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    scale=st.sampled_from([1, 1000, 1e7]),
    data=st.data(),
)
def test_the_order_of_repetitions_decides_no_tie(
    warehouse: Warehouse,
    scores: list[float],
    ks: tuple[int, int],
    scale: float,
    data: st.DataObject,
) -> None:
    """Equal means differ in their last bits with the order in which they are summed."""
    ks = (max(ks[0], REQUIRED_K), max(ks[1], REQUIRED_K))
    scaled = [score * scale for score in scores]
    shuffled = [tuple(data.draw(st.permutations(scaled))) for _ in ks]
    efforts = [Effort(k, 10, 0, values) for k, values in zip(ks, shuffled, strict=True)]
    load(warehouse, [Effort(1, 10, 0, tuple(scaled)), *efforts], Fraction(-(10**9)))
    found = warehouse.rows(results_model(0.0, "k", "auto"))
    assert chosen_in(found) == [2 if ks[1] > ks[0] else 1]
    assert found[1]["qf_mean"] == found[2]["qf_mean"]


@HALF
@given(efforts=experiments(grain=4))
def test_an_effort_that_was_asked_for_is_chosen_only_if_it_qualifies(
    warehouse: Warehouse, efforts: list[Effort]
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, "k", 2))
    expected = [2] if len(efforts) > 2 and qualifies(2, efforts[2]) else []
    assert chosen_in(found) == expected


def test_efforts_that_fail_in_different_splits_are_not_compared(warehouse: Warehouse) -> None:
    """Each has two scores, but not of the same splits."""
    efforts = [
        Effort(1, 10, 0, (0.9, None, None)),
        Effort(5, 10, 0, (None, 0.9, 0.9)),
        Effort(5, 10, 0, (0.1, 0.1, None)),
    ]
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, "k", "auto"))
    assert chosen_in(found) == []
    assert found[1]["reason"] == "does not qualify: accuracy has a value in 2 of 3 splits"
    assert not any(row["is_on_frontier"] for row in found)


def test_efforts_without_any_score_are_listed_and_chosen_only_if_asked_for(
    warehouse: Warehouse,
) -> None:
    load(warehouse, [Effort(1, 10, 0, ()), Effort(5, 10, 0, ()), Effort(6, 10, 0, ())])
    found = warehouse.rows(results_model(0.25, "k", "auto"))
    assert [(r["effort"], r["k"], r["qf_mean"], r["q"], r["is_chosen"]) for r in found] == [
        (0, 1, None, None, False),
        (1, 5, None, None, False),
        (2, 6, None, None, False),
    ]
    assert found[1]["reason"] == "does not qualify: accuracy has a value in 0 of 0 splits"
    assert {row["alpha"] for row in warehouse.rows(results_model("auto", "k", "auto"))} == {0}
    found = warehouse.rows(results_model(0.25, "k", 2))
    assert chosen_in(found) == [2]


def test_without_any_effort_there_are_no_results(warehouse: Warehouse) -> None:
    load(warehouse, [])
    for alpha in (0.25, "auto"):
        assert warehouse.rows(results_model(alpha, "k", "auto")) == []


# Two are as effort 1, or a little less than it; one failed in the first split.
EXPLAINED = [
    Effort(k, 569, suppressed, scores)
    for k, suppressed, scores in (
        (1, 0, (0.9,) * 5),
        (3, 0, (0.93,) * 5),
        (4, 100, (0.9,) * 5),
        (4, 0, (0.63,) * 5),
        (5, 0, (0.43,) * 5),
        (3, 0, (0.93,) * 5),
        (3, 0, (0.92999,) * 5),
        (7, 0, (None, 0.3, 0.3, 0.3, 0.3)),
        (6, 0, (0.6,) * 5),
    )
]
UNTOUCHED = "not chosen: effort 0 is the untouched table"
BROKEN = f"does not qualify: 100 of 569 records break a guarantee: {BY_GUARANTEE}"
FAILED = "does not qualify: accuracy has a value in 4 of 5 splits"
INFERIOR = "not chosen: QF may be 0.27 below that of effort 0, which is more than the margin"
NOT_ON_FRONTIER = "not chosen: no alpha makes it best, so it is not on the frontier"
NOT_TESTED = "not chosen: effort 3 with a smaller k fails, so stronger ones are not tested"
USELESS = "does not qualify: QF 0.43 is not above that of the zero rule, which has 0.5"
ASKED = "not chosen: release.effort is 2"


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        (
            results_model(0.016, "k", "auto"),
            [
                "chosen: highest Q among 5 efforts that qualify",
                BROKEN,
                "not chosen: Q 0.694 is below 0.978 of effort 1",
                USELESS,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: Q 0.97799 is below 0.978 of effort 1",
                FAILED,
                "not chosen: Q 0.696 is below 0.978 of effort 1",
            ],
        ),
        (
            results_model("auto", "k", "auto"),
            [
                "not chosen: as good as effort 8, but k 3 is below 6",
                BROKEN,
                "not chosen: Q 1.07 is below 1.26 of effort 8",
                USELESS,
                "not chosen: as good as effort 8, but k 3 is below 6",
                "not chosen: Q 1.25999 is below 1.26 of effort 8",
                FAILED,
                "chosen: highest Q among 5 efforts that qualify",
            ],
        ),
        (results_model(0.25, "k", 2), [ASKED, BROKEN, ASKED, USELESS, ASKED, ASKED, FAILED, ASKED]),
        (
            results_model(0.25, "k", "auto", "strongest_non_inferior"),
            [
                "chosen: highest k (3) among 3 efforts that qualify and, from the smallest k on, "
                "are non-inferior",
                BROKEN,
                INFERIOR,
                USELESS,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: k is 3 too, but Q 1.67999 is below 1.68 of effort 1",
                FAILED,
                NOT_TESTED,
            ],
        ),
        (
            results_model(0.25, "k", "auto", "pareto_knee"),
            [
                "not chosen: as good as effort 8, but k 3 is below 6",
                BROKEN,
                NOT_ON_FRONTIER,
                USELESS,
                NOT_ON_FRONTIER,
                NOT_ON_FRONTIER,
                FAILED,
                "chosen: highest k (6) of a frontier of 2 efforts, which has no knee",
            ],
        ),
    ],
)
def test_reasons_name_the_figures(warehouse: Warehouse, model: str, reasons: list[str]) -> None:
    load(warehouse, EXPLAINED)
    assert [row["reason"] for row in warehouse.rows(model)] == [UNTOUCHED, *reasons]


def test_reasons_where_the_choice_is_small(warehouse: Warehouse) -> None:
    load(warehouse, [*TIED, Effort(5, 10, 0, (0.9,)), Effort(None, 0, 0, (None,))])
    strongest = results_model(0.25, "k", "auto", "strongest_non_inferior")
    no_limit = (
        "not chosen: its difference to effort 0 has no confidence limit, which takes 5 splits"
    )
    assert [row["reason"] for row in warehouse.rows(strongest)] == [
        UNTOUCHED,
        no_limit,
        *[NOT_TESTED.replace("effort 3", "effort 1")] * 2,
        "does not qualify: there is no record",
    ]
    knee = results_model(0.25, "k", "auto", "pareto_knee")
    assert [row["reason"] for row in warehouse.rows(knee)][1:4] == [
        "not chosen: 0.0 above the chord of the frontier is below 0.025 of effort 3",
        "not chosen: 0.0 above the chord of the frontier is below 0.025 of effort 3",
        "chosen: the knee, 0.025 above the chord of a frontier of 3 efforts",
    ]
    load(warehouse, TIED)
    assert [row["reason"] for row in warehouse.rows(knee)][2:] == [
        "chosen: highest k (7) of a frontier of 2 efforts, which has no knee"
    ]
    load(warehouse, [*TIED[:2], Effort(2, 10, 1, (0.9,)), Effort(None, 10, 0, (0.9,))])
    assert [row["reason"] for row in warehouse.rows(results_model(0.25, "k", "auto"))][1:] == [
        "chosen: the only effort that qualifies",
        f"does not qualify: 1 of 10 records breaks a guarantee: {BY_GUARANTEE}",
        "does not qualify: no record is released",
    ]


@COSTLY
@given(efforts=experiments(grain=4), alpha=st.sampled_from(ALPHAS))
def test_every_effort_has_a_reason_that_says_what_the_flags_say(
    warehouse: Warehouse, efforts: list[Effort], alpha: float | str
) -> None:
    load(warehouse, efforts)
    models = [
        results_model(alpha, "k", "auto"),
        results_model(alpha, "k", 2),
        results_model(0.25, "k", "auto", "strongest_non_inferior"),
        results_model(0.25, "k", "auto", "pareto_knee"),
    ]
    for row in itertools.chain.from_iterable(map(warehouse.rows, models)):
        begin = row["reason"].partition(":")[0]
        if row["is_chosen"]:
            assert begin == "chosen"
        elif row["qualifies"] or row["effort"] == 0:
            assert begin == "not chosen"
        else:
            assert begin == "does not qualify"
