"""Stability of a choice, against numpy: share of resamples, and difference to the second."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from dbt_anonymize.arrays import Floats
from tests.properties.statements import RANDOM_STATE, results_model
from tests.properties.test_results import FEWEST, Effort, candidates_of, half_interval, load
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import COSTLY

pytestmark = pytest.mark.sampled_tests(5)

Places = NDArray[np.int64]

RESAMPLES = 1000
PRIME = 2**31 - 1
NO_ZERO = Fraction(-100)
# Rule, and the alpha that it is given.
RULES: tuple[tuple[float | str, str], ...] = ((0.016, "max_q"), ("auto", "max_q"))
KNEE = (0.25, "pareto_knee")


def draws(units: int, random_state: int = RANDOM_STATE) -> Places:
    """Return which units each resample draws, in the numbers that the macro documents."""
    numbers = [
        (resample * units + place) * 48271 + 11
        for resample in range(1, RESAMPLES + 1)
        for place in range(units)
    ]
    once = [(pow(number, 5, PRIME) + random_state) % PRIME for number in numbers]
    places = [pow(number, 5, PRIME) % units for number in once]
    return np.array(places).reshape(RESAMPLES, units)


def chosen(qfs: Floats, ks: Floats, alpha: float | str, rule: str) -> int:
    """Return the position of the best; without ties, which the scores of these tests lack."""
    given = alpha
    if alpha == "auto" or rule == "pareto_knee":
        best, strongest = int(np.argmax(qfs)), int(np.argmax(ks))
        gain = ks[strongest] - ks[best]
        alpha = float((qfs[best] - qfs[strongest]) / gain) if gain else 0.0
    merits = qfs + float(alpha) * ks
    top = np.flatnonzero(merits >= merits.max() - 1e-11)
    is_by_chord = given == "auto" or rule == "pareto_knee"
    return int(top[np.argmax(qfs[top] if is_by_chord else ks[top])])


def recounted(scores: Floats, ks: Floats, places: Places, rule: tuple[float | str, str]) -> Floats:
    """Return how often each effort is chosen; scores by effort, unit and split within it."""
    means = scores.mean(axis=2)
    wins = [chosen(means[:, drawn].mean(axis=1), ks, *rule) for drawn in places]
    return np.bincount(wins, minlength=len(ks)) / len(places)


def results(
    warehouse: Warehouse, scores: Floats, ks: list[int], rule: tuple[float | str, str]
) -> list[Row]:
    """Return the results of efforts; effort 0 scores as the first of them."""
    rows = [tuple(map(float, effort.ravel())) for effort in scores]
    efforts = [Effort(1, 90, 0, rows[0])] + [
        Effort(k, 90, 0, row) for k, row in zip(ks, rows, strict=True)
    ]
    load(warehouse, efforts, NO_ZERO, folds=scores.shape[2])
    return warehouse.rows(results_model(rule[0], "k", "auto", rule[1]))


def is_undetermined(found: list[Row], rule: tuple[float | str, str]) -> bool:
    """Tell whether two efforts tie by construction; then no share is said."""
    is_one = rule != RULES[0] and sum(row["is_on_frontier"] for row in found) == 2
    assert not is_one or {row["choice_share"] for row in found} == {None}
    return is_one


@st.composite
def close_efforts(draw: st.DrawFn) -> tuple[Floats, list[int]]:
    """Draw efforts that are about as good, so that splits decide; in repetitions and folds."""
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    ks = draw(st.lists(st.integers(3, 30), min_size=1, max_size=5, unique=True))
    shape = (len(ks), draw(st.integers(FEWEST, 20)), draw(st.integers(1, 3)))
    spread = generator.normal(0, 0.03, shape)
    # Of about the same Q at the alpha of the first rule.
    return 0.8 + spread - 0.016 * np.array(ks)[:, None, None], ks


@pytest.mark.parametrize("rule", [*RULES, KNEE])
@COSTLY
@given(experiment=close_efforts())
def test_the_share_is_that_of_a_recount_of_the_same_resamples(
    warehouse: Warehouse, rule: tuple[float | str, str], experiment: tuple[Floats, list[int]]
) -> None:
    scores, ks = experiment
    found = results(warehouse, scores, ks, rule)
    expected = recounted(scores, np.array(ks, float), draws(scores.shape[1]), rule)
    assert found[0]["choice_share"] is None
    if is_undetermined(found, rule):
        return
    assert [row["choice_share"] for row in found[1:]] == pytest.approx(list(expected), abs=0.0011)
    assert sum(row["choice_share"] for row in found[1:]) == pytest.approx(1)


@pytest.mark.parametrize("rule", [*RULES, KNEE])
@pytest.mark.parametrize("seed", range(4))
def test_the_share_is_that_of_a_bootstrap_of_numpy(
    warehouse: Warehouse, rule: tuple[float | str, str], seed: int
) -> None:
    """Resampled independently, so that it agrees up to chance alone."""
    generator = np.random.default_rng(seed)
    ks = [3, 7, 12, 20]
    scores = 0.8 + generator.normal(0, 0.05, (4, 12, 1)) - 0.016 * np.array(ks)[:, None, None]
    found = results(warehouse, scores, ks, rule)
    many = 20_000
    places = generator.integers(0, 12, (many, 12))
    for row, share in zip(
        found[1:], recounted(scores, np.array(ks, float), places, rule), strict=True
    ):
        if is_undetermined(found, rule):
            continue
        error = math.sqrt(max(share * (1 - share), 0.001) * (1 / RESAMPLES + 1 / many))
        assert abs(row["choice_share"] - share) < 4.5 * error


def test_the_folds_of_a_single_repetition_are_drawn_one_by_one(warehouse: Warehouse) -> None:
    generator = np.random.default_rng(1)
    ks = [3, 5]
    # As one repetition of ten folds; the recount has ten units of one split.
    scores = generator.normal(0.7, 0.05, (2, 1, 10))
    found = results(warehouse, scores, ks, RULES[0])
    expected = recounted(scores.reshape(2, 10, 1), np.array(ks, float), draws(10), RULES[0])
    assert [row["choice_share"] for row in found[1:]] == pytest.approx(list(expected))
    assert 0 < expected[0] < 1


@pytest.mark.parametrize(("repetitions", "folds"), [(4, 1), (4, 10), (1, 4)])
def test_too_few_repetitions_say_nothing(
    warehouse: Warehouse, repetitions: int, folds: int
) -> None:
    scores = np.random.default_rng(1).normal(0.7, 0.05, (2, repetitions, folds))
    found = results(warehouse, scores, [3, 5], RULES[0])
    assert [row["choice_share"] for row in found] == [None] * 3
    assert sum(row["is_chosen"] for row in found) == 1


@pytest.mark.parametrize("units", [5, 10, 100])
def test_draws_are_uniform_and_independent(units: int) -> None:
    """By what would show in a share: places, pairs of draws, resamples, and other seeds."""
    for random_state in (0, 1, 20_260_101):
        places = draws(units, random_state)
        others = draws(units, random_state + 1)
        assert _p_value(np.bincount(places.ravel(), minlength=units)) > 1e-4
        for first, second in (
            (places[:, :-1], places[:, 1:]),
            (places[:-1], places[1:]),
            (places, others),
            (places[:, :-1], others[:, 1:]),
        ):
            pairs = np.bincount((first * units + second).ravel(), minlength=units**2)
            assert _p_value(pairs) > 1e-4
        never = np.mean([units - len(set(drawn)) for drawn in places]) / units
        assert never == pytest.approx((1 - 1 / units) ** units, rel=0.03)


def _p_value(counts: NDArray[np.int64]) -> float:
    return float(stats.chisquare(counts).pvalue)


@COSTLY
@given(experiment=close_efforts())
def test_the_second_best_is_compared_in_the_same_splits(
    warehouse: Warehouse, experiment: tuple[Floats, list[int]]
) -> None:
    scores, ks = experiment
    found = results(warehouse, scores, ks, RULES[0])
    q = {n: scores[n - 1].mean() + 0.016 * k for n, k in enumerate(ks, start=1)}
    first, *rest = sorted(q, key=lambda n: -q[n])
    columns = [f"q_difference_to_runner_up{end}" for end in ("", "_low", "_high")]
    for row in found:
        if row["effort"] != first or not rest:
            assert [row[c] for c in ("runner_up", *columns)] == [None] * 4
            continue
        values = list((scores[first - 1] - scores[rest[0] - 1]).ravel())
        difference, half = q[first] - q[rest[0]], half_interval(values)
        assert row["is_chosen"]
        assert row["runner_up"] == rest[0]
        for column, expected in zip(
            columns, (difference, difference - half, difference + half), strict=True
        ):
            assert row[column] == pytest.approx(expected, abs=1e-6)


def test_the_interval_of_the_difference_keeps_to_the_scale_of_qf(warehouse: Warehouse) -> None:
    scores = np.array([[1.0, 0, 1, 0, 1], [0, 1.0, 0, 1, 0]]).reshape(2, 5, 1)
    found = results(warehouse, scores, [3, 5], RULES[0])
    (row,) = [row for row in found if row["is_chosen"]]
    assert row["q_difference_to_runner_up"] == pytest.approx(0.2 - 0.032)
    assert row["q_difference_to_runner_up_low"] == pytest.approx(-1 - 0.032)
    assert row["q_difference_to_runner_up_high"] == pytest.approx(1 - 0.032)


def test_other_rules_do_not_choose_by_q(warehouse: Warehouse) -> None:
    efforts = [Effort(k, 90, 0, (0.9, 0.8, 0.9, 0.85, 0.9)) for k in (1, 4, 5)]
    load(warehouse, efforts)
    assert candidates_of(efforts, "k")
    for model in (
        results_model(0.25, "k", 2),
        results_model(0.25, "k", "auto", "strongest_non_inferior"),
    ):
        found = warehouse.rows(model)
        assert sum(row["is_chosen"] for row in found) == 1
        for row in found:
            assert (row["choice_share"], row["runner_up"]) == (None, None)
            assert row["q_difference_to_runner_up"] is None
