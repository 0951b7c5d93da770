"""Train models on every effort, and score them on records that they have never seen.

A model is trained on the training records of its effort that are not suppressed (or on all of them,
see ``Problem.keeps_suppressed``). It predicts all test records, suppressed ones too, twice:
untouched (``original``) and generalized like the training records (``generalized``). For effort 0
both are the same.

This module runs in worker processes: it imports nothing that a worker does not need.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dbt_anonymize.arrays import Bools
from dbt_anonymize.errors import EvaluationError, SearchError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.facts import Detail
from dbt_anonymize.evaluation.inspections import Answers, Question
from dbt_anonymize.evaluation.measures import Predicted, Predictions
from dbt_anonymize.evaluation.prediction_measures import Values, prediction_measures
from dbt_anonymize.evaluation.problem import ZERO_RULE, EffortData, Model, Problem, Target, Task
from dbt_anonymize.evaluation.splits import Split, seeds
from dbt_anonymize.evaluation.stopwatch import Stopwatch
from dbt_anonymize.evaluation.suppression import TrainingTable, training_table
from dbt_anonymize.evaluation.tallies import Cell, PackedTallies, Tallies
from dbt_anonymize.evaluation.training import fit_predict
from dbt_anonymize.evaluation.unsupervised import (
    Reference,
    sample_for_silhouette,
    silhouette,
)
from dbt_anonymize.evaluation.views import RowsToPredict, View, make_view
from dbt_anonymize.tasks import UNSUPERVISED

# Effort, target and model by position, and the fit.
Place = tuple[int, int, int, str]

NOTHING_RELEASED = "no training record is released"
NEVER_HOLDS = "a guarantee can never hold on the training records alone"


@dataclass(frozen=True)
class Outcome:
    """The measures of one model by form of the test records, or the reason why it has none.

    Target, effort and model are positions. ``details`` are further rows about the model. Of fits
    that share a model, the first has the ``seconds`` of its steps.
    """

    effort: int
    target: int
    model: int
    fit: str
    repetition: int
    fold: int
    measures: Mapping[str, Values] = field(default_factory=dict)
    reason: str | None = None
    details: Sequence[Detail] = ()
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def order(self) -> tuple[int, int, int, str, int, int]:
        """Sort key among outcomes."""
        return (self.effort, self.target, self.model, self.fit, self.repetition, self.fold)


@dataclass(frozen=True)
class TaskResult:
    """The outcomes of a task, one per model, and counts over its splits.

    ``suppressed`` is the largest share of training records that fit: per_split suppresses, by
    effort.
    """

    outcomes: list[Outcome]
    tallies: PackedTallies
    suppressed: Mapping[int, float]


def score_task(problem: Problem, task: Task) -> TaskResult:
    """Train and score the models of a task: an outcome per split, effort, fit and model.

    A parameter value that its model refuses is an `EvaluationError`.
    """
    split_seed, model_seed = seeds(problem.random_state, task.repetition)
    target = problem.targets[task.target]
    splits = problem.splits(target, split_seed)
    tallies = Tallies()
    outcomes: list[Outcome] = []
    suppressed: dict[int, float] = {}
    for fold, split in enumerate(splits, start=1):
        scored = SplitScorer(problem, task, fold, split, model_seed, tallies, suppressed)
        for effort in task.efforts:
            outcomes.extend(scored.score_effort(effort))
    return TaskResult(outcomes, tallies.packed(), suppressed)


@dataclass
class SplitScorer:
    """One split of one target."""

    problem: Problem
    task: Task
    fold: int
    split: Split
    seed: int
    tallies: Tallies
    suppressed: dict[int, float]
    # Models have one thread; a machine that is busy with other things makes the clock go on.
    watch: Stopwatch = field(default_factory=lambda: Stopwatch(time.process_time))
    references: dict[int, Reference] = field(default_factory=dict)

    @property
    def target(self) -> Target:
        """Target of the task."""
        return self.problem.targets[self.task.target]

    def training(self, effort: int) -> tuple[Split, Target]:
        """Return the split whose training side are rows of an effort, and their target."""
        own = self.problem.efforts[effort].targets
        if own is None:
            return self.split, self.target
        target = own[self.task.target]
        return replace(self.split, train=target.known), target

    @cached_property
    def _training_table(self) -> TrainingTable:
        if self.problem.recount is None:
            raise TypeError("guarantees are only checked with fit: per_split")
        return training_table(self.problem.recount, self.split.train)

    def score_effort(self, effort: int) -> Iterator[Outcome]:
        """Yield an outcome per fit and model."""
        spaces, split = self.problem.efforts[effort].own, (self.task.repetition, self.fold)
        points = [inspection.points(split) for inspection in self.problem.inspections]
        for fits, released, per_split in self.fits(effort):
            views: dict[int, View] = {}  # spaces of the same features share one
            reason = self._untrainable_reason(effort, released)
            for position, model in enumerate(self.problem.models):
                places = [(effort, self.task.target, position, fit) for fit in fits]
                outcome = Outcome(*places[0], *split, reason=reason)
                if reason is None and released is not None:
                    key = id(spaces[model.space])
                    if key not in views:
                        with self.watch.running("prepare"):
                            views[key] = make_view(
                                self.problem,
                                effort,
                                self.training(effort)[0],
                                released,
                                space=model.space,
                                per_split=per_split,
                                points=points,
                            )
                    outcome = self._score(outcome, places, model, views[key])
                seconds = self.watch.take()
                for *_, fit in places:
                    yield replace(outcome, fit=fit, seconds=seconds)
                    seconds = {}

    def fits(self, effort: int) -> Iterator[tuple[tuple[str, ...], Bools | None, bool]]:
        """Yield fits, their released training records, and True where only these are counted.

        Equal fits share a tuple; released is None where the guarantees can never hold.
        """
        data = self.problem.efforts[effort]
        released = ~data.suppressed[self.training(effort)[0].train]
        if data.targets is not None or self.problem.recount is None:
            yield self.problem.fits, released, False
            return
        once, per_split = self.problem.fits
        own = released if effort == 0 else self._released_by_recount(effort, data)
        if own is not None and not data.is_fitted and np.array_equal(own, released):
            yield (once, per_split), released, False
            return
        yield (once,), released, False
        yield (per_split,), own, True

    def _released_by_recount(self, effort: int, data: EffortData) -> Bools | None:
        """Return the records released on their own; None if the guarantees can never hold."""
        if data.classes is None:
            return None
        try:
            with self.watch.running("prepare"):
                suppressed = self._training_table.suppressed(data.classes, data.k)
        except SearchError:
            return None
        share = float(suppressed.mean())
        self.suppressed[effort] = max(share, self.suppressed.get(effort, 0.0))
        return ~suppressed

    def _untrainable_reason(self, effort: int, released: Bools | None) -> str | None:
        if released is None:
            return NEVER_HOLDS
        split, target = self.training(effort)
        if target.task != "classification" or target.codes is None:
            return None if released.any() else NOTHING_RELEASED
        trains = released | (self.problem.keeps_suppressed and released.any())
        trained = int(np.count_nonzero(np.bincount(target.codes[split.train[trains]])))
        if trained >= 2:
            return None
        return f"the training records hold {trained} of {len(target.classes)} classes"

    def judge(self, model: int) -> Target:
        """Return what the answers of a model are compared with.

        Without a target these are the answers of its `Reference`; those of the zero rule are
        compared with what the first other model finds.
        """
        return (
            self.target if self.target.task not in UNSUPERVISED else self._reference(model).target
        )

    def _reference(self, model: int) -> Reference:
        models = self.problem.models
        if models[model].model == ZERO_RULE:
            others = (place for place, other in enumerate(models) if other.model != ZERO_RULE)
            model = next(others, model)
        if model not in self.references:
            self.references[model] = self._train_reference(models[model])
        return self.references[model]

    def _train_reference(self, model: Model) -> Reference:
        everybody = np.ones(len(self.split.train), dtype=np.bool_)
        view = make_view(self.problem, 0, self.split, everybody, space=model.space, per_split=False)
        seed, task = (self.seed + 1) % 2**32, self.target.task
        estimator = estimators.make_estimator(model.model, model.parameters, seed, task)
        is_scaled = estimators.estimator_type(model.model, task).is_scaled
        rows, place = view.test_sets[0].rows, view.test_sets[0].place
        answers = fit_predict(estimator, view.training, self.target, rows, is_scaled=is_scaled)
        numbers = np.full(self.target.records, np.nan)
        numbers[self.split.test] = answers[place]
        sampled = sample_for_silhouette(len(place), seed)
        standard = view.training.standard
        return Reference(
            replace(self.target, numbers=numbers),
            sampled,
            (rows[place[sampled]] - standard.center) / standard.scale,
        )

    def _score(
        self, outcome: Outcome, places: Sequence[Place], model: Model, view: View
    ) -> Outcome:
        """Return an outcome with the measures of a model, or the reason for having none."""
        target = self.training(outcome.effort)[1]
        estimator = estimators.make_estimator(model.model, model.parameters, self.seed, target.task)
        is_scaled = estimators.estimator_type(model.model, target.task).is_scaled
        is_zero_rule = model.model == ZERO_RULE
        try:
            questions = list(self._questions(model, view))
            asked = [question.rows for question in questions if question.rows is not None]
            rows = np.vstack([view.test_rows, *asked]) if asked else view.test_rows
            with self.watch.running("train"):
                predicted = fit_predict(estimator, view.training, target, rows, is_scaled=is_scaled)
            if is_zero_rule:
                predicted = self._constant_answers(predicted, view, target)
            with self.watch.running("score"):
                measures, by_form = self._score_predictions(places, predicted, view.test_sets)
                further = predicted[len(view.test_rows) :]
                details = list(self._answered(questions, outcome.model, by_form, further))
            return replace(outcome, measures=measures, details=details)
        except (EvaluationError, MemoryError):
            raise
        except Exception as error:  # a failed model is a result; the others go on
            return replace(outcome, reason=_failure_reason(model, error))

    @staticmethod
    def _constant_answers(predicted: Predictions, view: View, target: Target) -> Predictions:
        """Return the predictions of the zero rule with the best constant answer per measure."""
        if isinstance(predicted, Predicted):
            return replace(predicted, is_zero_rule=True)
        if target.task != "regression" or target.numbers is None:
            return predicted
        median = np.median(target.numbers[view.training.records])
        return np.column_stack([predicted, np.full(len(predicted), median)])

    def _questions(self, model: Model, view: View) -> Iterator[Question]:
        """Yield what inspections ask of a model."""
        seed = (self.seed, self.fold)
        for inspection, points in zip(self.problem.inspections, view.points, strict=True):
            if (question := inspection.question(model, view, points, seed)) is not None:
                yield question

    def _answered(
        self,
        questions: Sequence[Question],
        model: int,
        by_form: Mapping[str, Predictions],
        further: Predictions,
    ) -> Iterator[Detail]:
        """Yield the details of questions; ``further`` are the answers to all their rows."""
        first = 0
        for question in questions:
            last = first + (0 if question.rows is None else len(question.rows))
            answers = Answers(self.judge(model), self.split.test, by_form, further[first:last])
            yield from question.details(answers)
            first = last

    def _score_predictions(
        self,
        places: Sequence[Place],
        predicted: Predictions,
        test_sets: tuple[RowsToPredict, ...],
    ) -> tuple[dict[str, Values], dict[str, Predictions]]:
        """Return measures and predictions by form of the test records; tally the predictions."""
        measures: dict[str, Values] = {}
        by_form: dict[str, Predictions] = {}
        model, test = places[0][2], self.split.test
        target, first = self.judge(model), 0
        for test_set in test_sets:
            predictions = predicted[first + test_set.place]
            first += len(test_set.rows)
            values = prediction_measures(target, test, predictions)
            if target.task == "clustering" and not isinstance(predictions, Predicted):
                reference = self._reference(model)
                clusters = predictions[reference.sampled]
                values = {**values, ("silhouette", None): silhouette(reference.rows, clusters)}
            self.record_predictions(places, test_set.test_on, predictions)
            if isinstance(predictions, Predicted) and target.codes is not None:
                cells = [Cell(*place, test_on) for place in places for test_on in test_set.test_on]
                self.tallies.add(cells, target.codes[test], predictions, len(target.classes))
            for test_on in test_set.test_on:
                measures[test_on], by_form[test_on] = values, predictions
        return measures, by_form

    def record_predictions(
        self, places: Sequence[Place], test_on: tuple[str, ...], predicted: Predictions
    ) -> None:
        """Receive the predictions of a model for each test record; no-op by default."""


def _failure_reason(model: Model, error: Exception) -> str:
    """Return the reason why training failed, without values of records."""
    if type(error).__name__ == "InvalidParameterError":
        raise EvaluationError(
            f"quality.parameters of {model.name} must have values that {model.model} can have; "
            f"scikit-learn says: {error} Correct them."
        ) from error
    if "." in model.model:  # messages of other packages may quote values
        return type(error).__name__
    return " ".join(str(error).split()) or type(error).__name__
