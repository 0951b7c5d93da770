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

from .statements import (
    ALPHAS,
    LIMIT,
    MARGIN,
    MEASURE,
    QNFS,
    REQUIRED_K,
    TEST_SHARE,
    results_model,
)
from .warehouse import Row, Warehouse
from .worlds import COSTLY, EACH_SHAPE, HALF

# The macro documents this error of the quantile of Student's t, relative.
QUANTILE_ERROR = 1e-6
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
def experiments(draw: st.DrawFn, grain: int | None = None, may_fail: bool = True) -> list[Effort]:
    """Draw efforts with paired repetitions; with a grain, means are exact and Qs tie."""
    values: st.SearchStrategy[float | None]
    if grain is None:
        values = st.floats(0, 1, allow_subnormal=False)
    else:
        values = st.integers(0, grain).map(lambda number: number / grain)
    if may_fail:
        values = st.none() | values
    repetitions = draw(st.integers(1, 14 if grain is None else 2))
    records = draw(st.integers(1, 60))
    return [
        Effort(
            k=draw(st.none() | st.integers(1, 8)),
            records=records,
            suppressed_records=draw(st.integers(0, max(1, records // 6))),
            scores=tuple(draw(st.lists(values, min_size=repetitions, max_size=repetitions))),
        )
        for _ in range(draw(st.integers(2, 7)))
    ]


def load(warehouse: Warehouse, efforts: list[Effort], zero: Fraction | None = ZERO) -> None:
    """Create the quality of scores, among them some that are not QF, and the privacy.

    Without `zero` the model zero_rule has a score on other efforts and test records alone.
    """
    rows: list[tuple[object, ...]] = []
    for number, effort in enumerate(efforts):
        for repetition, value in enumerate(effort.scores, start=1):
            key = (number, "outcome", "forest", "once", "original")
            rows += [
                (*key, MEASURE, None, repetition, 1, value),
                (*key, "mae", None, repetition, 1, value),
                (*key, MEASURE, "a class", repetition, 1, 0.111),
                (*key, "f1", None, repetition, 1, 0.123),
                (*key[:4], "generalized", MEASURE, None, repetition, 1, 0.987),
                (*key[:3], "per_split", "original", MEASURE, None, repetition, 1, 0.986),
                (*key[:2], "zero_rule", "once", "generalized", MEASURE, None, repetition, 1, 2.0),
                (*key[:2], "zero_rule", "per_split", *key[4:], MEASURE, None, repetition, 1, 2.0),
                (number, "other", "zero_rule", *key[3:], MEASURE, None, repetition, 1, 2.0),
                (number, "other", *key[2:], MEASURE, None, repetition, 1, 0.985),
            ]
            # That of effort 0 counts.
            baseline = 2.0 if number else zero if zero is None else float(zero)
            zero_key = (*key[:2], "zero_rule", *key[3:])
            rows += [
                (*zero_key, MEASURE, None, r, 1, baseline) for r, _ in enumerate(effort.scores)
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


def candidates_of(efforts: list[Effort], qnf: str) -> dict[int, Candidate]:
    """Return what may be chosen, by number."""
    splits = {i for e in efforts for i, score in enumerate(e.scores) if score is not None}
    found: dict[int, Candidate] = {}
    for number, effort in enumerate(efforts):
        qf, privacy = qf_of(effort), qnf_of(qnf, effort.k)
        is_complete = all(effort.scores[i] is not None for i in splits)
        if qualifies(number, effort) and is_complete and qf is not None and privacy is not None:
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


def useful_among(
    candidates: Mapping[int, Candidate], zero: Fraction | None = ZERO
) -> dict[int, Candidate]:
    """Return what is better than the zero rule."""
    return {n: one for n, one in candidates.items() if zero is None or one.qf > zero}


def chord_of(candidates: Mapping[int, Candidate], zero: Fraction | None = ZERO) -> Fraction:
    """Return how much quality the frontier loses for one unit of QNF between its useful ends."""
    useful = useful_among(candidates, zero)
    vertices = [useful[number] for number in frontier_of(candidates) if number in useful]
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
        assert_interval(row, "qf_difference", differences)
        assert_non_inferiority(row, differences, efforts)


def corrected_error(values: list[float]) -> float:
    """Return the standard error with the correction of Nadeau and Bengio 2003."""
    return statistics.stdev(values) * math.sqrt(1 / len(values) + TEST_SHARE / (1 - TEST_SHARE))


def assert_interval(row: Row, name: str, values: list[float]) -> None:
    """Check the two-sided interval of 95 %."""
    if len(values) < 2:
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (None, None)
        return
    margin = float(stats.t.ppf(0.975, len(values) - 1)) * corrected_error(values)
    tolerance = QUANTILE_ERROR * margin + 1e-8
    mean = statistics.fmean(values)
    assert row[f"{name}_low"] == pytest.approx(mean - margin, abs=tolerance)
    assert row[f"{name}_high"] == pytest.approx(mean + margin, abs=tolerance)


def assert_non_inferiority(row: Row, differences: list[float], efforts: list[Effort]) -> None:
    """Check the flag where rounding does not decide it."""
    splits = {i for e in efforts for i, score in enumerate(e.scores) if score is not None}
    if len(differences) < max(2, len(splits)):
        assert row["is_non_inferior"] is None
        return
    error = corrected_error(differences)
    limit = statistics.fmean(differences) - float(stats.t.ppf(0.95, len(differences) - 1)) * error
    if abs(limit + MARGIN) > 1e-6:
        assert row["is_non_inferior"] == (limit > -MARGIN)


def test_a_difference_of_exactly_the_margin_is_not_inferior(warehouse: Warehouse) -> None:
    worse = [0.9 - MARGIN, 0.7 - MARGIN, 0.3 - MARGIN]
    load(warehouse, [Effort(1, 9, 0, (0.9, 0.7, 0.3)), Effort(4, 9, 0, tuple(worse))])
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
    assert [row["qualifies"] for row in found] == [qualifies(n, e) for n, e in enumerate(efforts)]
    candidates = candidates_of(efforts, qnf)
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
def test_the_knee_is_farthest_above_the_chord_and_best_at_the_alpha_that_is_found(
    warehouse: Warehouse, qnf: str, efforts: list[Effort], zero: Fraction | None
) -> None:
    load(warehouse, efforts, zero)
    candidates = candidates_of(efforts, qnf)
    useful = useful_among(candidates, zero)
    vertices = {number: useful[number] for number in frontier_of(candidates) if number in useful}
    alpha = chord_of(candidates, zero)
    knees = warehouse.rows(results_model(0.25, qnf, "auto", "pareto_knee"))
    assert chosen_in(knees) == best(vertices, alpha)
    assert {row["alpha"] for row in knees} == {0.25}
    found = warehouse.rows(results_model("auto", qnf, "auto"))
    assert chosen_in(found) == best(useful or candidates, alpha)
    assert [row["alpha"] for row in found] == [pytest.approx(float(alpha))] * len(found)


def test_where_the_zero_rule_decides_no_effort_is_left_out(warehouse: Warehouse) -> None:
    load(warehouse, USELESS_END)
    found = warehouse.rows("results_of_zero_rule")
    assert [row["is_on_frontier"] for row in found] == [False, False, True]
    assert chosen_in(found) == [2]


def test_every_effort_before_the_chosen_one_is_non_inferior(warehouse: Warehouse) -> None:
    """Of many efforts at the margin, one passes by chance; none is tested after one that fails."""
    same, worse = (0.9, 0.7, 0.3), (0.4, 0.2, -0.2)
    load(
        warehouse,
        [Effort(k, 90, 0, scores) for k, scores in ((1, same), (3, same), (9, same))]
        + [Effort(k, 90, 0, scores) for k, scores in ((5, worse), (5, same), (4, same))],
    )
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert [row["is_non_inferior"] for row in found] == [True, True, True, False, True, True]
    assert chosen_in(found) == [5]
    not_tested = "is not non-inferior, so stronger ones are not tested"
    assert [row["reason"] for row in found][1:] == [
        "not chosen: k 3 is below 4 of effort 5",
        f"not chosen: effort 3 with a smaller k {not_tested}",
        "not chosen: QF may be 0.5 below that of effort 0, which is more than the margin",
        f"not chosen: effort 3 with the same k {not_tested}",
        "chosen: highest k (4) among 2 efforts that qualify and, from the smallest k on, are "
        "non-inferior",
    ]


def test_without_every_score_of_the_untouched_table_nothing_is_non_inferior(
    warehouse: Warehouse,
) -> None:
    load(warehouse, [Effort(1, 9, 0, (0.5, 0.5, None)), Effort(4, 9, 0, (0.9, 0.9, 0.9))])
    found = warehouse.rows(results_model(0.25, "k", "auto", "strongest_non_inferior"))
    assert [row["is_non_inferior"] for row in found] == [None, None]
    assert found[1]["qf_difference"] == pytest.approx(0.4)
    assert chosen_in(found) == []
    assert found[1]["reason"] == "not chosen: accuracy of effort 0 has a value in 2 of 3 splits"


def test_reasons_name_the_zero_rule(warehouse: Warehouse) -> None:
    knee = results_model(0.25, "k", "auto", "pareto_knee")
    useless = "not chosen: QF 0.5 is no better than the zero rule, which has 0.5"
    load(warehouse, USELESS_END)
    assert [row["reason"] for row in warehouse.rows(knee)][1:] == [
        "chosen: the only effort that qualifies and is on the frontier and is better than the zero "
        "rule",
        useless,
    ]
    auto = results_model("auto", "k", "auto")
    assert [row["reason"] for row in warehouse.rows(auto)][1:] == [
        "chosen: the only effort that qualifies and is better than the zero rule",
        useless,
    ]
    load(warehouse, USELESS_END, Fraction(9, 10))
    found = warehouse.rows(knee)
    assert chosen_in(found) == []
    assert [row["reason"] for row in found][1:] == [
        "not chosen: QF 0.9 is no better than the zero rule, which has 0.9",
        "not chosen: QF 0.5 is no better than the zero rule, which has 0.9",
    ]
    found = warehouse.rows(auto)
    assert {row["alpha"] for row in found} == {0}
    assert found[1]["reason"] == (
        "chosen: highest Q among 2 efforts that qualify, but none is better than the zero rule"
    )


@pytest.mark.parametrize("qnf", QNFS)
@EACH_SHAPE
@given(efforts=experiments(grain=16))
def test_the_strongest_non_inferior_effort_is_chosen_or_none(
    warehouse: Warehouse, qnf: str, efforts: list[Effort]
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, qnf, "auto", "strongest_non_inferior"))
    candidates = candidates_of(efforts, qnf)
    in_order = sorted(candidates, key=lambda n: (candidates[n].k, n))
    passed = itertools.takewhile(lambda n: found[n]["is_non_inferior"], in_order)
    eligible = {number: candidates[number] for number in passed}
    expected = sorted(eligible, key=lambda n: (-eligible[n].k, -eligible[n].qf, n))[:1]
    assert chosen_in(found) == expected


@HALF
@given(efforts=experiments(grain=4))
def test_of_a_measure_of_error_less_is_better(warehouse: Warehouse, efforts: list[Effort]) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, "k", "auto", measure="mae"))
    errors = [
        Effort(
            e.k, e.records, e.suppressed_records, tuple(s if s is None else -s for s in e.scores)
        )
        for e in efforts
    ]
    assert chosen_in(found) == best(candidates_of(errors, "k"), Fraction(1, 4))
    for row, effort in zip(found, errors, strict=True):
        qf = qf_of(effort)
        assert row["qf_mean"] == (None if qf is None else pytest.approx(float(qf)))
        assert_interval(row, "qf", [score for score in effort.scores if score is not None])
        differences = [
            score - baseline
            for score, baseline in zip(effort.scores, errors[0].scores, strict=True)
            if score is not None and baseline is not None
        ]
        assert_interval(row, "qf_difference", differences)
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
    load(warehouse, [Effort(1, 10, 0, tuple(scaled)), *efforts])
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
    assert found[1]["reason"] == "not chosen: accuracy has a value in 2 of 3 splits"
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
    assert found[1]["reason"] == "not chosen: accuracy has a value in 0 of 0 splits"
    assert {row["alpha"] for row in warehouse.rows(results_model("auto", "k", "auto"))} == {0}
    found = warehouse.rows(results_model(0.25, "k", 2))
    assert chosen_in(found) == [2]


def test_without_any_effort_there_are_no_results(warehouse: Warehouse) -> None:
    load(warehouse, [])
    for alpha in (0.25, "auto"):
        assert warehouse.rows(results_model(alpha, "k", "auto")) == []


# The last three: as effort 1, a little less than it, and one that failed in the first split.
EXPLAINED = [
    Effort(1, 569, 0, (0.9, 0.9)),
    Effort(3, 569, 0, (0.93, 0.93)),
    Effort(4, 569, 100, (0.9, 0.9)),
    Effort(4, 569, 0, (0.43, 0.43)),
    Effort(5, 569, 0, (0.43, 0.43)),
    Effort(3, 569, 0, (0.93, 0.93)),
    Effort(3, 569, 0, (0.92999, 0.92999)),
    Effort(7, 569, 0, (None, 0.3)),
]
UNTOUCHED = "not chosen: effort 0 is the untouched table"
BROKEN = f"does not qualify: 100 of 569 records break a guarantee: {BY_GUARANTEE}"
FAILED = "not chosen: accuracy has a value in 1 of 2 splits"
INFERIOR = "not chosen: QF may be 0.47 below that of effort 0, which is more than the margin"
NOT_ON_FRONTIER = "not chosen: no alpha makes it best, so it is not on the frontier"
NOT_TESTED = (
    "not chosen: effort 3 with a smaller k is not non-inferior, so stronger ones are not tested"
)
USELESS = "not chosen: QF 0.43 is no better than the zero rule, which has 0.5"
ASKED = "not chosen: release.effort is 2"


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        (
            results_model(0.016, "k", "auto"),
            [
                "chosen: highest Q among 5 efforts that qualify",
                BROKEN,
                "not chosen: Q 0.494 is below 0.978 of effort 1",
                "not chosen: Q 0.51 is below 0.978 of effort 1",
                "not chosen: as good as effort 1, which comes first",
                "not chosen: Q 0.97799 is below 0.978 of effort 1",
                FAILED,
            ],
        ),
        (
            results_model("auto", "k", "auto"),
            [
                "chosen: highest Q among 3 efforts that qualify and are better than the zero rule",
                BROKEN,
                USELESS,
                USELESS,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: Q 0.92999 is below 0.93 of effort 1",
                FAILED,
            ],
        ),
        (results_model(0.25, "k", 2), [ASKED, BROKEN, *[ASKED] * 5]),
        (
            results_model(0.25, "k", "auto", "strongest_non_inferior"),
            [
                "chosen: highest k (3) among 3 efforts that qualify and, from the smallest k on, "
                "are non-inferior",
                BROKEN,
                INFERIOR,
                NOT_TESTED,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: k is 3 too, but Q 1.67999 is below 1.68 of effort 1",
                FAILED,
            ],
        ),
        (
            results_model(0.25, "k", "auto", "pareto_knee"),
            [
                "chosen: the only effort that qualifies and is on the frontier and is better than "
                "the zero rule",
                BROKEN,
                USELESS,
                USELESS,
                NOT_ON_FRONTIER,
                NOT_ON_FRONTIER,
                FAILED,
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
    no_limit = "not chosen: its difference to effort 0 has no confidence limit"
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
        "chosen: the knee, 0.025 above the chord of a frontier of 3 efforts better than the zero "
        "rule",
    ]
    load(warehouse, TIED, None)
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
