"""Train models on every effort, and score them on records that they have never seen.

A model is trained on the training records of its effort that are not suppressed (or on all of them,
see ``Problem.keeps_suppressed``). It predicts all test records, suppressed ones too, twice:
untouched (``original``) and generalized like the training records (``generalized``). For effort 0
both are the same.

This module runs in worker processes: it imports nothing that a worker does not need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dbt_anonymize.errors import EvaluationError, SearchError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.arrays import Bools, Codes, Floats
from dbt_anonymize.evaluation.measures import (
    Predicted,
    classification_measures,
    regression_measures,
    survival_measures,
)
from dbt_anonymize.evaluation.problem import EffortData, Model, Problem, Target, Task
from dbt_anonymize.evaluation.splits import Split, draw_splits, seeds
from dbt_anonymize.evaluation.suppression import TrainingTable, training_table
from dbt_anonymize.evaluation.tallies import Cell, PackedTallies, Tallies
from dbt_anonymize.evaluation.training import fit_predict
from dbt_anonymize.evaluation.views import RowsToPredict, View, make_view

# By measure and, of a measure about one class, the code of the class.
Values = Mapping[tuple[str, int | None], float]
# Effort, target and model by position, and the fit.
Place = tuple[int, int, int, str]

NOTHING_RELEASED = "no training record is released"
NEVER_HOLDS = "a guarantee can never hold on the training records alone"


@dataclass(frozen=True)
class Outcome:
    """The measures of one model by kind of test records, or the reason why there are none.

    Target, effort and model are positions.
    """

    effort: int
    target: int
    model: int
    fit: str
    repetition: int
    fold: int
    measures: Mapping[str, Values] = field(default_factory=dict)
    reason: str | None = None

    @property
    def order(self) -> tuple[int, int, int, str, int, int]:
        """Sort key among outcomes."""
        return (self.effort, self.target, self.model, self.fit, self.repetition, self.fold)


@dataclass(frozen=True)
class TaskResult:
    """The outcomes of a task, one per model, and counts over its splits.

    ``suppressed`` is, by effort, the largest share of training records that fit: per_split
    suppresses.
    """

    outcomes: list[Outcome]
    tallies: PackedTallies
    suppressed: Mapping[int, float]


def score_task(problem: Problem, task: Task) -> TaskResult:
    """Train and score the models of a task: an outcome per split, effort, fit and model.

    A parameter with a value that its model refuses is an `EvaluationError`.
    """
    split_seed, model_seed = seeds(problem.random_state, task.repetition)
    target = problem.targets[task.target]
    splits = draw_splits(
        problem.splitting,
        split_seed,
        records=target.records,
        strata=target.codes,
        groups=problem.groups,
    )
    tallies = Tallies()
    outcomes: list[Outcome] = []
    suppressed: dict[int, float] = {}
    for fold, split in enumerate(splits, start=1):
        scored = _Split(problem, task, fold, split, model_seed, tallies, suppressed)
        for effort in task.efforts:
            outcomes.extend(scored.score_effort(effort))
    return TaskResult(outcomes, tallies.packed(), suppressed)


@dataclass
class _Split:
    """One split of one target."""

    problem: Problem
    task: Task
    fold: int
    split: Split
    seed: int
    tallies: Tallies
    suppressed: dict[int, float]

    @property
    def target(self) -> Target:
        return self.problem.targets[self.task.target]

    @cached_property
    def _training_table(self) -> TrainingTable:
        if self.problem.recount is None:
            raise TypeError("guarantees are only checked with fit: per_split")
        return training_table(self.problem.recount, self.split.train)

    def score_effort(self, effort: int) -> Iterator[Outcome]:
        """Yield an outcome per fit and model."""
        spaces = self.problem.efforts[effort].own
        for fits, released, per_split in self._fits(effort):
            views: dict[int, View] = {}  # spaces of the same features share one
            reason = self._reason_against(released)
            for position, model in enumerate(self.problem.models):
                places = [(effort, self.task.target, position, fit) for fit in fits]
                found: Mapping[str, Values] | str = reason or {}
                if reason is None and released is not None:
                    key = id(spaces[model.space])
                    if key not in views:
                        views[key] = make_view(
                            self.problem,
                            effort,
                            self.split,
                            released,
                            space=model.space,
                            per_split=per_split,
                        )
                    found = self._score(places, model, views[key])
                values, why = ({}, found) if isinstance(found, str) else (found, None)
                for place in places:
                    yield Outcome(*place, self.task.repetition, self.fold, values, why)

    def _fits(self, effort: int) -> Iterator[tuple[tuple[str, ...], Bools | None, bool]]:
        """Yield the fits, the released training records, and whether they alone are counted.

        Fits that do not differ are one; None is released where the guarantees can never hold.
        """
        data = self.problem.efforts[effort]
        released = ~data.suppressed[self.split.train]
        if self.problem.recount is None:
            yield self.problem.fits, released, False
            return
        once, per_split = self.problem.fits
        own = released if effort == 0 else self._own(effort, data)
        if own is not None and not data.is_fitted and np.array_equal(own, released):
            yield (once, per_split), released, False
            return
        yield (once,), released, False
        yield (per_split,), own, True

    def _own(self, effort: int, data: EffortData) -> Bools | None:
        """Return the records released without the test records; None if guarantees never hold."""
        if data.classes is None:
            return None
        try:
            suppressed = self._training_table.suppressed(data.classes, data.k)
        except SearchError:
            return None
        share = float(suppressed.mean())
        self.suppressed[effort] = max(share, self.suppressed.get(effort, 0.0))
        return ~suppressed

    def _reason_against(self, released: Bools | None) -> str | None:
        if released is None:
            return NEVER_HOLDS
        target = self.target
        if target.task != "classification" or target.codes is None:
            return None if released.any() else NOTHING_RELEASED
        trains = released | (self.problem.keeps_suppressed and released.any())
        trained = int(np.count_nonzero(np.bincount(target.codes[self.split.train[trains]])))
        if trained >= 2:
            return None
        return f"the training records hold {trained} of {len(target.classes)} classes"

    def _score(self, places: Sequence[Place], model: Model, view: View) -> dict[str, Values] | str:
        """Return the measures of a model, or why it has none."""
        target = self.target
        estimator = estimators.make_estimator(model.model, model.parameters, self.seed, target.task)
        is_scaled = estimators.estimator_type(model.model, target.task).is_scaled
        try:
            predicted = fit_predict(
                estimator, view.training, target, view.test_rows, is_scaled=is_scaled
            )
            return self._values(places, predicted, view.asked)
        except (EvaluationError, MemoryError):
            raise
        except Exception as error:  # whatever a model raises is a result, not the end of all others
            return _reason(model, error)

    def _values(
        self,
        places: Sequence[Place],
        predicted: Predicted | Floats,
        asked: tuple[RowsToPredict, ...],
    ) -> dict[str, Values]:
        """Return all measures for each kind of test records, and count the predictions."""
        found: dict[str, Values] = {}
        first = 0
        for each in asked:
            rows = first + each.place
            first += len(each.rows)
            if isinstance(predicted, Predicted):
                cells = [Cell(*place, test_on) for place in places for test_on in each.test_on]
                values = self._classified(_at(predicted, rows), cells)
            else:
                values = self._measured(predicted[rows])
            found |= dict.fromkeys(each.test_on, values)
        return found

    def _classified(self, predicted: Predicted, cells: list[Cell]) -> Values:
        target = self.target
        if target.codes is None:
            raise TypeError("a classification must have classes")
        true, classes = target.codes[self.split.test], len(target.classes)
        self.tallies.add(cells, true, predicted, classes)
        return classification_measures(true, predicted, classes, target.positive)

    def _measured(self, predicted: Floats) -> Values:
        target, test = self.target, self.split.test
        if target.numbers is None:
            raise TypeError(f"a target of {target.task} must have numbers")
        true = target.numbers[test]
        if not np.isfinite(predicted).all():
            raise ValueError("what the model predicts is not finite")
        if target.codes is None:
            found = regression_measures(true, predicted)
        else:
            found = survival_measures(target.codes[test] == 1, true, predicted)
        return {(measure, None): value for measure, value in found.items()}


def _at(predicted: Predicted, place: Codes) -> Predicted:
    probabilities, ranks = predicted.probabilities, predicted.ranks
    return Predicted(
        predicted.labels[place],
        None if probabilities is None else probabilities[place],
        None if ranks is None else ranks[place],
    )


def _reason(model: Model, error: Exception) -> str:
    """Return why a model could not be trained, without values of records."""
    if type(error).__name__ == "InvalidParameterError":
        raise EvaluationError(
            f"quality.parameters of {model.name} must have values that {model.model} can have; "
            f"scikit-learn says: {error} Correct them."
        ) from error
    if "." in model.model:  # what others write into a message is not known
        return type(error).__name__
    return " ".join(str(error).split()) or type(error).__name__
