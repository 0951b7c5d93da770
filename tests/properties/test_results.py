"""Results against a recount: quality with its interval, Q, what qualifies and what is chosen."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from .statements import ALPHAS, LIMIT, MEASURE, QNFS, REQUIRED_K, TEST_SHARE, results_model
from .warehouse import Row, Warehouse
from .worlds import HALF

# The macro documents this error of the quantile of Student's t.
QUANTILE_ERROR = 2e-4


@dataclass(frozen=True)
class Effort:
    """One effort: its privacy and its score in each repetition, None where it has none."""

    k: int | None
    records: int
    suppressed_records: int
    scores: tuple[float | None, ...]


@st.composite
def experiments(draw: st.DrawFn, grain: int | None = None) -> list[Effort]:
    """Draw efforts with paired repetitions; with a grain, scores are exact and Qs tie."""
    if grain is None:
        values = st.none() | st.floats(0, 1, allow_subnormal=False)
    else:
        values = st.none() | st.integers(0, grain).map(lambda number: number / grain)
    repetitions = draw(st.integers(1, 14 if grain is None else 3))
    records = draw(st.integers(1, 60))
    return [
        Effort(
            k=draw(st.none() | st.integers(1, 5)),
            records=records,
            suppressed_records=draw(st.integers(0, max(1, records // 6))),
            scores=tuple(draw(st.lists(values, min_size=repetitions, max_size=repetitions))),
        )
        for _ in range(draw(st.integers(2, 6)))
    ]


def load(warehouse: Warehouse, efforts: list[Effort]) -> None:
    """Create the scores, among them some that are not QF, and the privacy."""
    columns = {"effort": "int", "model": "varchar", "repetition": "int"}
    columns |= {"test_on": "varchar", "measure": "varchar", "value": "double"}
    rows: list[tuple[object, ...]] = []
    for number, effort in enumerate(efforts):
        for repetition, value in enumerate(effort.scores, start=1):
            rows.append((number, "forest", repetition, "original", MEASURE, value))
            rows.append((number, "forest", repetition, "original", "f1", 0.123))
            rows.append((number, "forest", repetition, "generalized", MEASURE, 0.987))
    warehouse.load("scores", columns, reversed(rows))
    counts = {"effort": "int", "k": "bigint", "records": "bigint", "suppressed_records": "bigint"}
    counts |= {"violating_records": "bigint", "meets_guarantees": "boolean"}
    warehouse.load(
        "privacy",
        counts,
        [
            (n, e.k, e.records, e.suppressed_records, e.suppressed_records, meets(e))
            for n, e in reversed(list(enumerate(efforts)))
        ],
    )


def meets(effort: Effort) -> bool:
    allowed = math.floor(Fraction(LIMIT) * effort.records)
    return effort.k is not None and effort.k >= REQUIRED_K and effort.suppressed_records <= allowed


def qualifies(number: int, effort: Effort) -> bool:
    return number > 0 and meets(effort)


def qnf_of(qnf: str, k: int | None) -> float | None:
    if k is None:
        return None
    return float(k) if qnf == "k" else 1 - 1 / k


def q_of(effort: Effort, alpha: float, qnf: str) -> float | None:
    scores = [score for score in effort.scores if score is not None]
    privacy = qnf_of(qnf, effort.k)
    if not scores or privacy is None:
        return None
    return math.fsum(scores) / len(scores) + alpha * privacy


@pytest.mark.parametrize("qnf", QNFS)
@HALF
@given(efforts=experiments(), alpha=st.sampled_from(ALPHAS))
def test_quality_and_its_interval_equal_a_recount(
    warehouse: Warehouse, qnf: str, efforts: list[Effort], alpha: float
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(alpha, qnf, "auto"))
    assert [row["effort"] for row in found] == list(range(len(efforts)))
    for row, effort in zip(found, efforts, strict=True):
        scores = [score for score in effort.scores if score is not None]
        assert row["repetitions"] == len(scores)
        assert (row["k"], row["suppressed_records"]) == (effort.k, effort.suppressed_records)
        assert row["alpha"] == alpha
        assert row["qnf"] == pytest.approx(qnf_of(qnf, effort.k))
        assert row["q"] == pytest.approx(q_of(effort, alpha, qnf))
        assert row["qf_mean"] == (pytest.approx(statistics.fmean(scores)) if scores else None)
        assert_interval(row, scores)
        differences = [
            score - baseline
            for score, baseline in zip(effort.scores, efforts[0].scores, strict=True)
            if score is not None and baseline is not None
        ]
        mean_difference = math.fsum(differences) / len(differences) if differences else None
        assert row["qf_difference"] == pytest.approx(mean_difference, abs=1e-12)


def assert_interval(row: Row, scores: list[float]) -> None:
    """Check the 95 % interval with the correction of Nadeau and Bengio 2003."""
    if len(scores) < 2:
        assert (row["qf_sd"], row["qf_low"], row["qf_high"]) == (None, None, None)
        return
    deviation = statistics.stdev(scores)
    assert row["qf_sd"] == pytest.approx(deviation, abs=1e-9)
    error = deviation * math.sqrt(1 / len(scores) + TEST_SHARE / (1 - TEST_SHARE))
    margin = float(stats.t.ppf(0.975, len(scores) - 1)) * error
    tolerance = QUANTILE_ERROR * error + 1e-8
    assert row["qf_low"] == pytest.approx(statistics.fmean(scores) - margin, abs=tolerance)
    assert row["qf_high"] == pytest.approx(statistics.fmean(scores) + margin, abs=tolerance)


@pytest.mark.parametrize("qnf", QNFS)
@HALF
@given(efforts=experiments(grain=4), alpha=st.sampled_from(ALPHAS))
def test_the_qualifying_effort_with_the_largest_q_is_chosen_and_ties_go_to_privacy(
    warehouse: Warehouse, qnf: str, efforts: list[Effort], alpha: float
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(alpha, qnf, "auto"))
    assert [row["qualifies"] for row in found] == [qualifies(n, e) for n, e in enumerate(efforts)]
    scored = [sum(score is not None for score in effort.scores) for effort in efforts]
    candidates = [
        (q, effort.k or 0, -number)
        for number, effort in enumerate(efforts)
        if scored[number] == max(scored)
        if qualifies(number, effort) and (q := q_of(effort, alpha, qnf)) is not None
    ]
    expected = [-max(candidates)[2]] if candidates else []
    assert [row["effort"] for row in found if row["is_chosen"]] == expected
    assert all(row["is_chosen"] in (True, False) for row in found)


@HALF
@given(
    scores=st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=9),
    ks=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    data=st.data(),
)
def test_the_order_of_repetitions_decides_no_tie(
    warehouse: Warehouse, scores: list[float], ks: tuple[int, int], data: st.DataObject
) -> None:
    """Equal means differ in their last bits with the order in which they are summed."""
    ks = (max(ks[0], REQUIRED_K), max(ks[1], REQUIRED_K))
    shuffled = [tuple(data.draw(st.permutations(scores))) for _ in ks]
    efforts = [Effort(k, 10, 0, values) for k, values in zip(ks, shuffled, strict=True)]
    load(warehouse, [Effort(1, 10, 0, tuple(scores)), *efforts])
    (chosen,) = [r for r in warehouse.rows(results_model(0.0, "k", "auto")) if r["is_chosen"]]
    assert chosen["effort"] == (2 if ks[1] > ks[0] else 1)


@HALF
@given(efforts=experiments(grain=4))
def test_an_effort_that_was_asked_for_is_chosen_only_if_it_qualifies(
    warehouse: Warehouse, efforts: list[Effort]
) -> None:
    load(warehouse, efforts)
    found = warehouse.rows(results_model(0.25, "k", 2))
    expected = [2] if len(efforts) > 2 and qualifies(2, efforts[2]) else []
    assert [row["effort"] for row in found if row["is_chosen"]] == expected


def test_efforts_without_any_score_are_listed_and_not_chosen(warehouse: Warehouse) -> None:
    load(warehouse, [Effort(1, 10, 0, ()), Effort(5, 10, 0, ())])
    found = warehouse.rows(results_model(0.25, "k", "auto"))
    assert [(r["effort"], r["k"], r["qf_mean"], r["q"], r["is_chosen"]) for r in found] == [
        (0, 1, None, None, False),
        (1, 5, None, None, False),
    ]


def test_the_quantile_of_students_t_is_as_exact_as_documented(warehouse: Warehouse) -> None:
    warehouse.load("degrees", {"degrees": "bigint"}, [(n,) for n in [*range(400), None]])
    found = {row["degrees"]: row["quantile"] for row in warehouse.rows("t_quantiles")}
    assert found.pop(None) is None
    assert found.pop(0) is None
    for degrees, quantile in found.items():
        tolerance = 1e-6 if degrees <= 10 else QUANTILE_ERROR
        assert float(quantile) == pytest.approx(float(stats.t.ppf(0.975, degrees)), abs=tolerance)
