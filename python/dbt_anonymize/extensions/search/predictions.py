"""Cross-fitted predictions of models, summed by the rows of a coded table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.errors import SearchError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.measures import Predicted
from dbt_anonymize.evaluation.problem import Model, Problem, Target
from dbt_anonymize.evaluation.splits import Split, Splitting, seeds
from dbt_anonymize.evaluation.training import fit_predict
from dbt_anonymize.evaluation.views import ORIGINAL, make_view
from dbt_anonymize.evaluation.workers import quiet_training
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.privacy.grouping import column_sums
from dbt_anonymize.privacy.table import Table

# Each record is predicted by a model that was trained on the other folds.
FOLDS = Splitting(repetitions=1, folds=3)
# Repetition whose seeds are used: evaluations count from 1.
_CROSS_FITTING = 0


def with_predictions(table: Table, records: Records) -> Table:
    """Return the table with the sums of predictions that `search.guided` reads.

    The predictions of each target and model are centred and scaled to equal weight. Records without
    any target do not count.
    """
    parts = [
        scaled_outputs
        for target in records.problem.targets
        for model in records.problem.models
        for scaled_outputs in [_standardized(cross_fitted(records.problem, target, model))]
        if scaled_outputs is not None
    ]
    if not parts:
        raise SearchError(
            "models must tell records apart to guide a search; trained on the original records, "
            "they predict the same for all. Give the spec other features, or search with "
            "--measure loss."
        )
    outputs = np.column_stack(parts) / np.sqrt(len(parts))
    is_known = np.zeros(len(outputs))
    for target in records.problem.targets:
        is_known[target.known] = 1.0
    squares = (outputs**2).sum(axis=1)
    columns = np.column_stack([is_known, squares, outputs])
    return replace(table, predictions=column_sums(records.rows, columns, len(table.records)))


def cross_fitted(problem: Problem, target: Target, model: Model) -> Floats:
    """Return the outputs (records, outputs) of a model for records that it has not seen.

    Outputs are probabilities or scores of classes, a number, or a risk; NaN where the target is
    NULL. No subject is in two folds.
    """
    split_seed, model_seed = seeds(problem.random_state, _CROSS_FITTING)
    splits = target.splits(FOLDS, split_seed, problem.groups)
    outputs_by_fold: list[Floats] = [np.zeros((0, 0))] * len(splits)
    with quiet_training():
        for fold, split in enumerate(splits):
            outputs_by_fold[fold] = _outputs(problem, target, model, split, model_seed)
    outputs = np.full((target.records, outputs_by_fold[0].shape[1]), np.nan)
    for split, outputs_of_fold in zip(splits, outputs_by_fold, strict=True):
        outputs[split.test] = outputs_of_fold
    return outputs


def _outputs(problem: Problem, target: Target, model: Model, split: Split, seed: int) -> Floats:
    everybody = np.ones(len(split.train), dtype=np.bool_)
    view = make_view(problem, 0, split, everybody, space=model.space, per_split=True)
    (test_set,) = [each for each in view.test_sets if ORIGINAL in each.test_on]
    estimator = estimators.make_estimator(model.model, model.parameters, seed, target.task)
    is_scaled = estimators.estimator_type(model.model, target.task).is_scaled
    predicted = fit_predict(estimator, view.training, target, test_set.rows, is_scaled=is_scaled)
    if not isinstance(predicted, Predicted):
        outputs: Floats = predicted[:, np.newaxis]
    elif predicted.probabilities is not None:
        outputs = predicted.probabilities
    elif predicted.ranks is not None:
        is_known = np.isfinite(predicted.ranks)
        lowest = predicted.ranks[is_known].min(initial=0.0)
        outputs = np.where(is_known, predicted.ranks, lowest)
    else:
        outputs = np.eye(len(target.classes))[predicted.labels]
    return outputs.take(test_set.place, axis=0)


def _standardized(outputs: Floats) -> Floats | None:
    """Return centred outputs whose squares sum to 1; None if they are constant.

    Missing outputs become the mean.
    """
    centred = np.nan_to_num(outputs - np.nanmean(outputs, axis=0))
    total = float((centred**2).sum())
    scaled: Floats = centred / np.sqrt(total) if total > 1e-12 * len(outputs) else centred[:, :0]
    return scaled if scaled.shape[1] else None
