"""What models see of an effort in one split."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.evaluation.design import Design, make_design
from dbt_anonymize.evaluation.estimators import make_estimator, model_names
from dbt_anonymize.evaluation.features import Encoding
from dbt_anonymize.evaluation.measures import Predicted
from dbt_anonymize.evaluation.problem import EffortData, Problem, Target
from dbt_anonymize.evaluation.splits import Split, Splitting
from dbt_anonymize.evaluation.training import fit_predict
from dbt_anonymize.evaluation.views import Asked, View, make_view

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
# These draw features, or give each a weight to begin with: another feature is another draw.
DRAWING = {"decision_tree", "random_forest", "bagging", "extra_trees"}


def design(*further: np.ndarray) -> Design:
    """Return two numbers and further ones."""
    columns = [*NUMBERS, *further]
    return make_design([Encoding(str(n), "", is_quasi=True) for n in range(len(columns))], columns)


def view(raw: Design, own: Design, *, is_recoded: bool = False) -> View:
    """Return what models see of an effort of which every record is released."""
    released = np.zeros(RECORDS, dtype=bool)
    efforts = [EffortData(0, raw, None, released), EffortData(1, own, None, released, is_recoded)]
    problem = Problem([], [], efforts, Splitting(repetitions=1, test_share=0.3), 1)
    found = make_view(problem, 1, SPLIT, np.ones(60, dtype=bool), per_split=False)
    assert found is not None
    return found


def predicted(model: str, task: str, seen: View) -> dict[str, np.ndarray]:
    """Return what a model says about the original test records."""
    asked = seen.asked[0]
    assert asked.test_on == ("original",)
    estimator = make_estimator(model, {}, 1, task)
    found = fit_predict(estimator, seen.training, TARGETS[task], asked.rows[asked.place])
    if not isinstance(found, Predicted):
        return {"numbers": found}
    each = {"labels": found.labels, "p": found.probabilities, "ranks": found.ranks}
    return {name: values for name, values in each.items() if values is not None}


@pytest.mark.parametrize(
    ("model", "task"),
    [
        *((model, "classification") for model in model_names()),
        *((model, "regression") for model in ("ridge", "kernel_svm")),
    ],
)
def test_a_feature_that_is_constant_in_training_changes_no_prediction(
    model: str, task: str
) -> None:
    found = predicted(model, task, view(design(RAW), design(CONSTANT)))
    expected = predicted(model, task, view(design(CONSTANT), design(CONSTANT)))
    for name, values in expected.items():
        assert found[name] == pytest.approx(values), name
    if model in DRAWING:
        return
    without = predicted(model, task, view(design(), design()))
    for name, values in without.items():
        assert found[name] == pytest.approx(values, rel=1e-6, abs=1e-9), name


def test_only_what_is_constant_is_set() -> None:
    own = np.append(CONSTANT[:60], RAW[60:])  # a label that no training record has
    seen = view(design(RAW, RAW), design(own, RAW))
    for asked in seen.asked:
        rows = asked.rows[asked.place]
        assert set(rows[:, 2]) == {0.5}
        assert rows[:, 3].tolist() == RAW[60:].tolist()
    assert seen.asked[0].rows[seen.asked[0].place, 0].tolist() == NUMBERS[0][60:].tolist()


def test_the_untouched_table_and_recodings_have_constants_too() -> None:
    own = np.append(CONSTANT[:60], RAW[60:])
    raw = design(own)
    released = np.zeros(RECORDS, dtype=bool)
    efforts = [EffortData(0, raw, None, released)]
    problem = Problem([], [], efforts, Splitting(repetitions=1, test_share=0.3), 1)
    seen = make_view(problem, 0, SPLIT, np.ones(60, dtype=bool), per_split=False)
    assert seen is not None
    recoded = view(design(RAW), raw, is_recoded=True)
    asked: tuple[Asked, ...] = (*seen.asked, *recoded.asked)
    assert len(asked) == 3
    assert all(set(each.rows[:, 2]) == {0.5} for each in asked)
