"""Results against a recount: QF with its interval, Q, what qualifies, what is chosen and why."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.properties.experiments import (
    FEWEST,
    ZERO,
    Candidate,
    Effort,
    beats,
    best,
    candidates_of,
    chosen_in,
    corrected_error,
    experiments,
    half_interval,
    load,
    qf_of,
    qnf_of,
    qualifies,
)
from tests.properties.statements import (
    ALPHAS,
    MARGIN,
    QNFS,
    REQUIRED_K,
    results_model,
)
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import EACH_SHAPE, HALF

# The macro documents this error of the quantile of Student's t, relative.
QUANTILE_ERROR = 1e-6


NUMBERS = [alpha for alpha in ALPHAS if not isinstance(alpha, str)]


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
