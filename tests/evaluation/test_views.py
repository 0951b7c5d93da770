"""Views of an effort that models get in one split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dbt_anonymize.evaluation.data.design import make_design, make_space
from dbt_anonymize.evaluation.data.features import VALUES, Column
from dbt_anonymize.evaluation.data.spaces import Numbers
from dbt_anonymize.evaluation.estimators import estimator_type, make_estimator, model_names
from dbt_anonymize.evaluation.measures import Predicted
from dbt_anonymize.evaluation.problem import EffortData, Problem, Target
from dbt_anonymize.evaluation.splits import Split, Splitting
from dbt_anonymize.evaluation.training import fit_predict
from dbt_anonymize.evaluation.views import RowsToPredict, View, make_view

pytestmark = pytest.mark.costly

RECORDS = 90
SPLIT = Split(np.arange(60), np.arange(60, RECORDS))
DRAWS = np.random.default_rng(4)
CLASS = DRAWS.integers(0, 3, RECORDS)
NUMBERS = [CLASS + DRAWS.normal(0, 0.7, RECORDS) for _ in range(2)]
RAW = 40_000 + DRAWS.normal(0, 1e4, RECORDS) + 1e4 * CLASS
CONSTANT = np.full(RECORDS, 0.5)
TARGETS = {
    "classification": Target("label", "classification", ("a", "b", "c"), codes=CLASS),
    "regression": Target("charges", "regression", numbers=CLASS + NUMBERS[0] ** 2),
}


def columns(*further: np.ndarray) -> list[Column]:
    """Return two numbers and further ones."""
    found = []
    for values in [*NUMBERS, *further]:
        distinct, codes = np.unique(values, return_inverse=True)
        has_nan = bool(np.isnan(values).any())
        blocks = {VALUES: [Numbers(distinct[:, None], has_nan)]}
        found.append(Column(codes, blocks, blocks, is_quasi=True))
    return found


def effort(number: int, own: list[Column], raw: list[Column], *, is_recoded: bool = False) -> Any:
    """Return an effort of which every record is released."""
    spaces = {VALUES: make_space(own, VALUES)}
    original = {VALUES: make_space(raw, VALUES)}
    released = np.zeros(RECORDS, dtype=bool)
    return EffortData(number, make_design(own), spaces, original, released, is_recoded=is_recoded)


def view(raw: list[Column], own: list[Column], *, is_recoded: bool = False) -> View:
    """Return what models see of an effort of which every record is released."""
    efforts = [effort(0, raw, raw), effort(1, own, raw, is_recoded=is_recoded)]
    problem = Problem([], [], efforts, Splitting(repetitions=1, test_share=0.3), 1)
    released = np.ones(60, dtype=bool)
    return make_view(problem, 1, SPLIT, released, space=VALUES, per_split=False)


def predicted(model: str, task: str, seen: View) -> dict[str, np.ndarray]:
    """Return what a model says about the original test records."""
    test_set = seen.test_sets[0]
    assert test_set.test_on == ("original",)
    estimator = make_estimator(model, {}, 1, task)
    is_scaled = estimator_type(model, task).is_scaled
    rows = test_set.rows[test_set.place]
    found = fit_predict(estimator, seen.training, TARGETS[task], rows, is_scaled=is_scaled)
    if not isinstance(found, Predicted):
        return {"numbers": found}
    each = {"labels": found.labels, "p": found.probabilities, "ranks": found.ranks}
    return {name: values for name, values in each.items() if values is not None}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("model", "task"),
    [
        *((model, "classification") for model in model_names()),
        *((model, "regression") for model in ("ridge", "kernel_svm")),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_feature_that_is_constant_in_training_changes_no_prediction(
    model: str, task: str
) -> None:
    found = predicted(model, task, view(columns(RAW), columns(CONSTANT)))
    without = predicted(model, task, view(columns(), columns()))
    for name, values in without.items():
        assert np.array_equal(found[name], values), name


def test_only_what_is_constant_is_left_out() -> None:
    own = np.append(CONSTANT[:60], RAW[60:])  # a label that no training record has
    seen = view(columns(RAW, RAW), columns(own, RAW))
    assert seen.training.rows.shape[1] == 3
    for test_set in seen.test_sets:
        rows = test_set.rows[test_set.place]
        assert rows[:, 2].tolist() == RAW[60:].tolist()
        assert rows[:, 0].tolist() == NUMBERS[0][60:].tolist()


def test_the_untouched_table_and_recodings_have_constants_too() -> None:
    raw = columns(np.append(CONSTANT[:60], RAW[60:]))
    problem = Problem([], [], [effort(0, raw, raw)], Splitting(1, test_share=0.3), 1)
    released = np.ones(60, dtype=bool)
    seen = make_view(problem, 0, SPLIT, released, space=VALUES, per_split=False)
    recoded = view(columns(RAW), raw, is_recoded=True)
    test_sets: tuple[RowsToPredict, ...] = (*seen.test_sets, *recoded.test_sets)
    assert len(test_sets) == 3
    assert all(each.rows.shape[1] == 2 for each in test_sets)


def test_where_nothing_varies_models_see_one_constant() -> None:
    constant = [columns(CONSTANT)[2]]
    seen = view([columns(RAW)[2]], constant)
    assert set(seen.training.rows.ravel()) == set(seen.test_rows.ravel()) == {0.0}
    assert seen.training.rows.shape[1] == 1


def test_a_missing_number_becomes_the_median_of_the_training_records() -> None:
    own = RAW.copy()
    own[[0, 5, 61]] = np.nan
    seen = view(columns(own), columns(own))
    median = np.median(own[:60][~np.isnan(own[:60])])
    trained = seen.training.rows[seen.training.codes]
    assert trained[[0, 5], 2].tolist() == [median, median]
    assert trained[:, 3].tolist() == np.isnan(own[:60]).tolist()
    (generalized,) = [a for a in seen.test_sets if a.test_on == ("generalized",)]
    assert generalized.rows[generalized.place][1].tolist()[2:] == [median, 1.0]


def test_a_number_that_is_missing_in_test_records_alone_is_the_median_too() -> None:
    raw = RAW.copy()
    raw[61] = np.nan
    seen = view(columns(raw)[:2] + without_indicator(raw), columns(RAW))
    original = seen.test_sets[0]
    median = np.median(RAW[:60])
    # No training record is missing, so that no feature says that one is.
    assert original.rows[original.place][1].tolist()[2:] == [median]


def without_indicator(values: np.ndarray) -> list[Column]:
    distinct, codes = np.unique(values, return_inverse=True)
    blocks = {VALUES: [Numbers(distinct[:, None])]}
    return [Column(codes, blocks, blocks, is_quasi=True)]


def test_numbers_that_are_missing_or_one_value_tell_that_they_are_missing_alone() -> None:
    own = CONSTANT.copy()
    own[:30] = np.nan
    raw = RAW.copy()
    raw[0] = np.nan
    seen = view(columns(raw), columns(own))
    assert seen.training.rows.shape[1] == 3
    assert set(seen.training.rows[:, 2]) == {0.0, 1.0}


def test_only_numbers_are_in_standard_deviations() -> None:
    own = RAW.copy()
    own[:20] = np.nan
    training = view(columns(own), columns(own)).training
    assert training.has_unit.tolist() == [True, True, True, False]
    standard = training.standard.rows[training.codes]
    assert standard[:, :3].mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert standard[:, :3].std(axis=0) == pytest.approx(np.ones(3))
    assert set(standard[:, 3]) == {0.0, 1.0}
