"""Quality against a recount: means, intervals, paired differences and relative measures."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dbt_anonymize.spec.quality import Measure
from tests.properties.compilation import REPOSITORY
from tests.properties.experiments import EVALUATION, QUANTILES, SCORES
from tests.properties.statements import CONFIDENCE, FOLDS, MARGIN, TEST_SHARE
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import EACH_SHAPE

# Test records over training records, and the confidence of the intervals.
DESIGNS = {
    "quality_of_hold_out": (TEST_SHARE / (1 - TEST_SHARE), 0.95),
    "quality_of_folds": (1 / (FOLDS - 1), CONFIDENCE),
}
KEY = ("effort", "target", "model", "fit", "test_on", "measure")
LOWER_IS_BETTER = {"brier_score", "log_loss", "mae", "rmse"}
MEASURES = ("accuracy", "roc_auc", "brier_score", "rmse", "r2")
MODELS = ("forest", "zero_rule")
# Where the measures end.
SCALES = {
    "accuracy": (0, 1),
    "roc_auc": (0, 1),
    "brier_score": (0, 2),
    "rmse": (0, math.inf),
    "r2": (-math.inf, 1),
}
# Below so many splits there is no interval.
FEWEST = 5

# By key, then by split.
Scores = dict[tuple[Any, ...], dict[tuple[int, int | None], float | None]]


@st.composite
def evaluations(draw: st.DrawFn) -> Scores:
    """Draw scores of the same splits for some efforts, targets, models and measures."""
    has_folds = draw(st.booleans())
    splits = [
        (repetition, fold)
        for repetition in range(1, draw(st.integers(1, 2 if has_folds else 8)) + 1)
        for fold in (range(1, FOLDS + 1) if has_folds else [None])
    ]
    # Halves make equal values, differences of 0 and divisions by 0.
    value = st.none() | st.floats(0, 1, allow_subnormal=False) | st.sampled_from([0.0, 0.5, 1.0])
    efforts = draw(st.lists(st.integers(0, 3), unique=True, min_size=1))
    groups = draw(
        st.lists(
            st.tuples(
                st.sampled_from(efforts),
                st.sampled_from(["outcome", "other"]),
                st.sampled_from(MODELS),
                st.sampled_from(["once", "per_split"]),
                st.sampled_from(["original", "generalized"]),
            ),
            unique=True,
            min_size=1,
            max_size=5,
        )
    )
    one = groups[0][1], groups[0][3], groups[0][4]
    # So that comparisons with effort 0 and with the zero rule are not rare.
    groups += [(effort, one[0], model, *one[1:]) for effort in efforts for model in MODELS]
    return {
        (*group, measure): {split: draw(value) for split in splits}
        for group in dict.fromkeys(groups)
        for measure in MEASURES
    }


def load(warehouse: Warehouse, evaluation: Scores) -> None:
    rows = [
        (*key, *rest)
        for key, scores in evaluation.items()
        for split, value in scores.items()
        for rest in ((None, *split, value), ("a class", *split, 0.25))
    ]
    warehouse.load("scores", SCORES, rows[::-1])
    warehouse.load("evaluation", EVALUATION, QUANTILES)


def interval(values: list[float], ratio: float, confidence: float) -> tuple[float, float, float]:
    """Return the two-sided margin, the one-sided margin and the standard deviation."""
    sd = float(np.std(values, ddof=1))
    error = sd * math.sqrt(1 / len(values) + ratio)
    degrees = len(values) - 1
    return (
        float(stats.t.ppf((1 + confidence) / 2, degrees)) * error,
        float(stats.t.ppf(confidence, degrees)) * error,
        sd,
    )


def close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("design", DESIGNS)
@EACH_SHAPE
@given(evaluation=evaluations())
def test_quality_equals_a_recount(warehouse: Warehouse, design: str, evaluation: Scores) -> None:
    load(warehouse, evaluation)
    found = {tuple(row[c] for c in KEY): row for row in warehouse.rows(design)}
    measured = {k: row for k, row in found.items() if k[-1] in MEASURES}
    assert set(measured) == set(evaluation)
    possible: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for key, scores in evaluation.items():
        possible[key[1:]] |= {split for split, value in scores.items() if value is not None}
    for key, row in measured.items():
        values = [value for value in evaluation[key].values() if value is not None]
        assert row["splits"] == len(values)
        assert row["all_splits"] == len(possible[key[1:]])
        assert row["mean"] == close(float(np.mean(values)) if values else None)
        assert row["sd"] == close(float(np.std(values, ddof=1)) if len(values) > 1 else None)
        assert_limits(row, "", values, SCALES[key[-1]], design)
        assert_difference(row, evaluation, key, design)
        assert_zero_rule(row, evaluation, key, design)


def assert_limits(
    row: Row, name: str, values: list[float], scale: tuple[float, float], design: str
) -> None:
    """Check an interval, which does not leave the scale."""
    if len(values) < FEWEST:
        assert (row[f"{name}low"], row[f"{name}high"]) == (None, None)
        return
    mean, (margin, _, _) = float(np.mean(values)), interval(values, *DESIGNS[design])
    assert row[f"{name}low"] == close(max(mean - margin, scale[0]))
    assert row[f"{name}high"] == close(min(mean + margin, scale[1]))


def assert_zero_rule(row: Row, evaluation: Scores, key: tuple[Any, ...], design: str) -> None:
    """Check the comparison with the zero rule of effort 0 in the splits of both."""
    zero = evaluation.get((0, key[1], "zero_rule", *key[3:]), {})
    pairs = [
        (value, other)
        for split, value in evaluation[key].items()
        if value is not None and (other := zero.get(split)) is not None
    ]
    differences = [value - other for value, other in pairs]
    mean = float(np.mean(differences)) if pairs else None
    assert row["zero_rule"] == close(float(np.mean([p[1] for p in pairs])) if pairs else None)
    assert row["zero_rule_difference"] == close(mean)
    assert_limits(row, "zero_rule_difference_", differences, width(key[-1]), design)
    if mean is None or len(pairs) < row["all_splits"]:
        assert row["beats_zero_rule"] is None
        return
    gain = -mean if key[-1] in LOWER_IS_BETTER else mean
    margin = interval(differences, *DESIGNS[design])[0] if len(pairs) >= FEWEST else 0
    if abs(gain - margin) > 1e-7 or differences == [0] * len(pairs):
        assert row["beats_zero_rule"] == (gain - margin > 0)


def width(measure: str) -> tuple[float, float]:
    """Return the scale of differences."""
    lowest, highest = SCALES[measure]
    return lowest - highest, highest - lowest


def assert_difference(row: Row, evaluation: Scores, key: tuple[Any, ...], design: str) -> None:
    baseline = evaluation.get((0, *key[1:]), {})
    differences = [
        value - other
        for split, value in evaluation[key].items()
        if value is not None and (other := baseline.get(split)) is not None
    ]
    assert row["paired_splits"] == len(differences)
    assert row["difference"] == close(float(np.mean(differences)) if differences else None)
    assert_limits(row, "difference_", differences, width(key[-1]), design)
    if len(differences) < FEWEST:
        assert (row["difference_limit"], row["is_non_inferior"]) == (None, None)
        return
    mean = float(np.mean(differences))
    _, one_sided, _ = interval(differences, *DESIGNS[design])
    is_error = key[-1] in LOWER_IS_BETTER
    worst = mean + one_sided if is_error else mean - one_sided
    lowest, highest = width(key[-1])
    assert row["difference_limit"] == close(min(max(worst, lowest), highest))
    gain = -worst if is_error else worst
    if len(differences) < row["all_splits"]:
        assert row["is_non_inferior"] is None
    elif abs(gain + MARGIN) > 1e-7:
        assert row["is_non_inferior"] == (gain > -MARGIN)


@pytest.mark.parametrize("design", DESIGNS)
@EACH_SHAPE
@given(evaluation=evaluations())
def test_relative_measures_compare_means(
    warehouse: Warehouse, design: str, evaluation: Scores
) -> None:
    load(warehouse, evaluation)
    found = {tuple(row[c] for c in KEY): row for row in warehouse.rows(design)}
    means = {key: row["mean"] for key, row in found.items()}
    relative = {key for key in found if key[-1] not in MEASURES}
    assert len(relative) == 2 * len(found) / (len(MEASURES) + 2)
    for key in relative:
        effort, target, model, fit, test_on, measure = key
        rest = (target, model, fit, test_on)
        compared = "roc_auc" if measure == "relative_auc" else "brier_score"
        mean, first = means[(effort, *rest, compared)], means.get((0, *rest, compared))
        zero = means.get((0, target, "zero_rule", fit, test_on, compared))
        expected = None
        if mean is not None and first is not None:
            if measure == "relative_auc" and zero is not None and first != zero:
                expected = (mean - zero) / (first - zero)
            if measure == "brier_skill_score" and first != 0:
                expected = 1 - mean / first
        assert found[key]["mean"] == (
            None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9)
        )
        for column in ("splits", "paired_splits", "all_splits"):
            assert found[key][column] == found[(*key[:-1], compared)][column]
        assert (found[key]["is_non_inferior"], found[key]["beats_zero_rule"]) == (None, None)


def test_the_untouched_table_is_not_inferior_to_itself(warehouse: Warehouse) -> None:
    key = (0, "outcome", "forest", "once", "original", "rmse")
    splits: dict[tuple[int, int | None], float | None] = {
        (number, None): 5123.25 / number for number in range(1, FEWEST + 1)
    }
    load(warehouse, {key: splits})
    (row,) = warehouse.rows("quality_of_hold_out")
    assert (row["difference"], row["difference_low"], row["difference_high"]) == (0, 0, 0)
    assert row["is_non_inferior"] is True


def test_two_splits_that_agree_say_nothing_about_others(warehouse: Warehouse) -> None:
    """Their interval would have no width, and non-inferiority would be certain."""
    splits: dict[tuple[int, int | None], float | None] = {
        (number, None): 0.7 for number in range(1, FEWEST)
    }
    keys = [(effort, "outcome", "forest", "once", "original", "accuracy") for effort in (0, 1)]
    load(warehouse, dict.fromkeys(keys, splits))
    for row in warehouse.rows("quality_of_hold_out"):
        assert (row["mean"], row["difference"]) == (0.7, 0)
        assert (row["low"], row["high"], row["difference_low"]) == (None, None, None)
        assert row["is_non_inferior"] is None


def test_every_measure_has_its_scale() -> None:
    text = (REPOSITORY / "macros" / "results" / "_measure_ranges.sql").read_text("utf-8")
    known = set(re.findall(r'"([a-z0-9_]+)"', text)) - {"lowest", "highest", "measures", "width"}
    assert known == set(get_args(Measure))


def test_scores_are_the_measures_and_what_is_not_a_number_is_null(warehouse: Warehouse) -> None:
    key = (1, "outcome", "forest", "once", "original")
    rows = [
        (*key, 1, 1, "measure", "accuracy", None, None, 0.75),
        (*key, 1, 2, "measure", "roc_auc", "yes", None, math.nan),
        (*key, 1, 3, "measure", "roc_auc", None, None, None),
        (*key, 1, 4, "measure", "rmse", None, None, math.inf),
        (*key, 1, 5, "measure", "r2", None, None, -math.inf),
        (*key, 2, 1, "failure", "one class only", None, None, None),
        (*key, None, None, "confusion", "yes", "no", None, 3.0),
        (*key, None, None, "probability", "yes", "1", 500, 3.0),
    ]
    warehouse.load("evaluation", EVALUATION, rows)
    assert warehouse.rows("scores_of_evaluation") == [
        {
            **dict(zip(KEY[:5], key, strict=True)),
            "repetition": repetition,
            "fold": fold,
            "measure": measure,
            "class": name,
            "value": value,
            "reason": reason,
        }
        for repetition, fold, measure, name, value, reason in (
            (1, 1, "accuracy", None, 0.75, None),
            (1, 2, "roc_auc", "yes", None, None),
            (1, 3, "roc_auc", None, None, None),
            (1, 4, "rmse", None, None, None),
            (1, 5, "r2", None, None, None),
            (2, 1, None, None, None, "one class only"),
        )
    ]


def test_a_model_that_could_not_be_trained_has_no_quality(warehouse: Warehouse) -> None:
    key = (1, "outcome", "forest", "once", "original")
    rows = [(*key, "accuracy", None, 1, 1, 0.75), (*key, None, None, 1, 2, None)]
    warehouse.load("scores", SCORES, rows)
    warehouse.load("evaluation", EVALUATION, QUANTILES)
    assert [row["measure"] for row in warehouse.rows("quality_of_hold_out")] == ["accuracy"]


def test_without_scores_there_is_no_quality(warehouse: Warehouse) -> None:
    load(warehouse, {})
    assert warehouse.rows("quality_of_hold_out") == []
    assert warehouse.rows("quality_of_folds") == []
