"""Random experiments, and the choice among their efforts by its definition."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from scipy import stats

from tests.properties.statements import (
    CONFIDENCE,
    LIMIT,
    MEASURE,
    REQUIRED_K,
    TEST_SHARE,
)
from tests.properties.warehouse import Row, Warehouse

# QF of the model that ignores the features.
ZERO = Fraction(1, 2)


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


EVALUATION = {
    "effort": "bigint",
    "target": "varchar",
    "model": "varchar",
    "fit": "varchar",
    "test_on": "varchar",
    "repetition": "bigint",
    "fold": "bigint",
    "kind": "varchar",
    "name": "varchar",
    "other": "varchar",
    "bin": "bigint",
    "value": "double",
}
# As many standard errors as Student's t says, for each number of splits.
QUANTILES = [
    (
        0,
        *[None] * 6,
        "quantile",
        name,
        str(confidence),
        n,
        float(stats.t.ppf(share, n - 1)),
    )
    for confidence in (0.95, CONFIDENCE)
    for name, share in (("two_sided", (1 + confidence) / 2), ("one_sided", confidence))
    for n in range(2, 101)
]


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
    warehouse.load("evaluation", EVALUATION, QUANTILES)
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


# Two efforts on the frontier have the same Q at the alpha that is found; rounding decides nothing.
TIED = [
    Effort(1, 10, 0, (1.0,)),
    Effort(3, 10, 0, (0.93,)),
    Effort(7, 10, 0, (0.8200000001,)),
]


# Below so many splits nothing is said about how much they vary.
FEWEST = 5


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


def best(candidates: Mapping[int, Candidate], alpha: Fraction) -> list[int]:
    """Return the number of the largest Q; ties go to the larger k, then the smaller number."""
    if not candidates:
        return []
    return [max(candidates, key=lambda n: (at(candidates[n], alpha), candidates[n].k, -n))]


def at(candidate: Candidate, alpha: Fraction) -> Fraction:
    return candidate.qf + alpha * candidate.qnf


def chosen_in(found: list[Row]) -> list[int]:
    return [row["effort"] for row in found if row["is_chosen"]]


def corrected_error(values: list[float]) -> float:
    """Return the standard error with the correction of Nadeau and Bengio 2003."""
    return statistics.stdev(values) * math.sqrt(1 / len(values) + TEST_SHARE / (1 - TEST_SHARE))


def half_interval(values: list[float]) -> float:
    return float(stats.t.ppf(0.975, len(values) - 1)) * corrected_error(values)
