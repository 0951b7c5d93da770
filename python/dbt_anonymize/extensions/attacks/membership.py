"""Membership inference: tell from a model if it was trained on somebody's record.

Half of the records are members: the deciding model of the spec is trained on their released
version. The attacker has the original records of members and of as many others. He asks the model
about each, and takes those for members of which it is most certain: by the probability of the true
class, by a right class where a model gives no probability, or by the error of a predicted number.
The same is done with a model that is trained on the original records of the same members.

Suppressed records are left out on both sides: they train nothing, and being rare would set them
apart from members.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Floats
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.reading import PER_RECORD, Effort, EffortReader
from dbt_anonymize.evaluation.data.sampling import draw_sample
from dbt_anonymize.evaluation.data.targets import TargetColumn
from dbt_anonymize.evaluation.measures import Predicted, Predictions
from dbt_anonymize.evaluation.problem import Model, Problem, Target
from dbt_anonymize.evaluation.run import Setting, read_problem
from dbt_anonymize.evaluation.splits import Split, Splitting, seeds
from dbt_anonymize.evaluation.training import fit_predict
from dbt_anonymize.evaluation.views import ORIGINAL, View, make_view
from dbt_anonymize.extensions.attacks.rates import excess
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.project.rows import feature_columns
from dbt_anonymize.spec import Spec

# Enough for a standard error of less than 0.01 of one repetition, and quick for every model.
MEMBERSHIP_SAMPLE = 20_000
# Position of the efforts in a problem.
_TRAINED_ON = {0: "original records", 1: "the release"}


@dataclass(frozen=True)
class Advantage:
    """Advantage of an attacker whose scores tell members from others.

    ``auc``: share of pairs in which the member scores higher than the other (ties count half).
    ``hit_rate`` and ``false_alarm_rate``: shares of members and of others above the threshold at
    which they differ most.
    """

    auc: float
    hit_rate: float
    false_alarm_rate: float

    @property
    def gap(self) -> float:
        """Difference of both rates."""
        return self.hit_rate - self.false_alarm_rate


def advantage(scores: Floats, is_member: Bools) -> Advantage:
    """Measure how well scores tell members from others; higher means likelier a member.

    Examples
    --------
    >>> advantage(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    Advantage(auc=0.875, hit_rate=0.5, false_alarm_rate=0.0)
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    # The last place of each score.
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    members = np.cumsum(is_member[order])[ends]
    hits, false_alarms = members / members[-1], (ends + 1 - members) / (ends[-1] + 1 - members[-1])
    auc = np.trapezoid(np.append(0, hits), np.append(0, false_alarms))
    best = int((hits - false_alarms).argmax())
    return Advantage(float(auc), float(hits[best]), float(false_alarms[best]))


def attack_membership(
    session: Session, spec: Spec, effort: int, *, repetitions: int, largest: int
) -> list[AttackResult]:
    """Attack the deciding model, trained on the released effort and on original records.

    Members are drawn ``repetitions`` times, from a seeded sample of more than ``largest`` records.
    ``auc`` and ``taken_for_members`` (members and, as control, others above the best threshold) are
    means, for both models. The naive rate of the latter is that of shuffled membership: by the best
    of many thresholds some are found. Where the attack is not possible, one result says why.
    """
    if not spec.is_tested:
        return [_not_attacked("membership was not attacked: no model learns from the release")]
    name = spec.tests.deciding_model
    if spec.task not in {"classification", "regression"}:
        return [_unsupported(name, f"models of {spec.task} are not supported by this attack")]
    try:
        problem = _read(session, spec, effort, repetitions, largest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes = [_repetition(problem, r) for r in range(1, repetitions + 1)]
    except EvaluationError as error:
        return [_unsupported(name, str(error))]
    return [
        result
        for position in _TRAINED_ON
        for result in _summary_results(name, position, [outcome[position] for outcome in outcomes])
    ]


def _unsupported(model: str, reason: str) -> AttackResult:
    message = f"membership of the training records of {model} was not attacked: {reason}"
    return replace(_not_attacked(message), against=model)


def _not_attacked(message: str) -> AttackResult:
    return AttackResult("membership_inference", "auc", None, message)


@dataclass(frozen=True)
class _Outcome:
    """Result of one repetition for one model."""

    reached: Advantage
    shuffled: Advantage
    records: int


def _read(session: Session, spec: Spec, effort: int, repetitions: int, largest: int) -> Problem:
    """Read the untouched and the released effort as the evaluation does."""

    def relation(name: str) -> Any:
        source = session.warehouse.relation_of_ref(name)
        return session.cursor.query(f"select * from {source}")

    quality = spec.tests
    features = feature_columns(spec, relation)
    released = spec.numbered_efforts[effort]
    levels: Mapping[str, int] | str = PER_RECORD
    if released.is_full_domain and released.levels is not None:
        levels = released.levels
    untouched = Effort(0, relation(f"{spec.name}_effort_0"), {})
    largest = min(largest, quality.sample)
    sample = draw_sample(untouched.relation, spec.record_key, largest, quality.random_state)
    reading = Reading(numbers=quality.numbers, categories=quality.categories)
    reader = EffortReader(untouched, features, reading, sample, spec.record_key)
    subjects = {"relation": relation(f"{spec.name}_microdata"), "column": "subject"}
    choice = quality.chosen_models[quality.deciding_model]
    name = str(choice.model)
    space = reading.space(name, quality.task)
    further = Effort(
        effort,
        relation(f"{spec.name}_effort_{effort}"),
        levels,
        released.k,
        has_means=released.has_means,
        has_modes=released.has_modes,
        aggregates=tuple(released.aggregates),
    )
    problem, _ = read_problem(
        reader,
        [untouched, further],
        [TargetColumn(spec.predicted, quality.task, time=quality.time)],
        [Model(quality.deciding_model, name, choice.parameters, space)],
        Setting(
            splitting=Splitting(repetitions=repetitions, test_share=0.5),
            random_state=quality.random_state,
            subjects=subjects if spec.subject else None,
        ),
    )
    return problem


def _repetition(problem: Problem, repetition: int) -> list[_Outcome]:
    """Draw members, train both models, and attack them."""
    split_seed, model_seed = seeds(problem.random_state, repetition)
    (target,) = problem.targets
    (drawn,) = target.splits(problem.splitting, split_seed, problem.groups)
    suppressed = problem.efforts[1].suppressed
    members = drawn.train[~suppressed[drawn.train]]
    others = drawn.test[~suppressed[drawn.test]]
    if not len(members) or not len(others):
        raise EvaluationError("members and others must be released; got none. Use more records.")
    records = np.concatenate([members, others])
    is_member = np.arange(len(records)) < len(members)
    shuffled = np.random.default_rng(model_seed).permutation(is_member)
    outcomes = []
    for position in _TRAINED_ON:
        scores = _scores(problem, position, Split(train=members, test=records), model_seed)
        result = _Outcome(advantage(scores, is_member), advantage(scores, shuffled), len(records))
        outcomes.append(result)
    return outcomes


def _scores(problem: Problem, position: int, split: Split, seed: int) -> Floats:
    """Return the certainty of the model about the original version of each test record."""
    (target,), (model,) = problem.targets, problem.models
    everybody = np.ones(len(split.train), dtype=np.bool_)
    # Representations of values are learned from the members alone too.
    view = make_view(problem, position, split, everybody, space=model.space, per_split=True)
    rows, place = _original(view)
    estimator = estimators.make_estimator(model.model, model.parameters, seed, target.task)
    is_scaled = estimators.estimator_type(model.model, target.task).is_scaled
    predicted = fit_predict(estimator, view.training, target, rows, is_scaled=is_scaled)
    return _certainty(predicted, target, place, split)


def _original(view: View) -> tuple[Floats, NDArray[np.int64]]:
    (test_rows,) = [each for each in view.test_sets if ORIGINAL in each.test_on]
    return test_rows.rows, test_rows.place


def _certainty(
    predicted: Predictions, target: Target, place: NDArray[np.int64], split: Split
) -> Floats:
    if isinstance(predicted, Predicted):
        if target.codes is None:
            raise TypeError("a classification must have classes")
        true = target.codes[split.test]
        if predicted.probabilities is not None:
            return np.asarray(predicted.probabilities[place, true], dtype=np.float64)
        return np.asarray(predicted.labels[place] == true, dtype=np.float64)
    if target.numbers is None:
        raise TypeError("a regression must have numbers")
    return -np.abs(predicted[place] - target.numbers[split.test])


def _summary_results(model: str, position: int, outcomes: list[_Outcome]) -> list[AttackResult]:
    trained_on = _TRAINED_ON[position]
    against = model if position else f"{model}, trained on {trained_on}"
    people = max(outcome.records for outcome in outcomes)
    auc, auc_error = _mean([outcome.reached.auc for outcome in outcomes])
    hit_rate, _ = _mean([outcome.reached.hit_rate for outcome in outcomes])
    false_alarm_rate, _ = _mean([outcome.reached.false_alarm_rate for outcome in outcomes])
    gap, error = _mean([outcome.reached.gap for outcome in outcomes])
    shuffled, _ = _mean([outcome.shuffled.gap for outcome in outcomes])
    naive, _ = _mean([outcome.shuffled.hit_rate for outcome in outcomes])
    return [
        AttackResult(
            "membership_inference",
            "auc",
            auc,
            f"whoever asks {model}, trained on {trained_on}, tells a member from somebody else "
            f"with a chance of {auc:.3f}; guessing gives 0.5.",
            against=against,
            naive=0.5,
            standard_error=auc_error,
            subjects=people,
        ),
        AttackResult(
            "membership_inference",
            "taken_for_members",
            hit_rate,
            f"with the best threshold, {gap:.1%} more of the members of {model}, "
            f"trained on {trained_on}, than of others are taken for members; with shuffled members "
            f"{shuffled:.1%}.",
            against=against,
            control=false_alarm_rate,
            naive=naive,
            risk=excess(hit_rate, false_alarm_rate),
            standard_error=error,
            subjects=people,
        ),
    ]


def _mean(values: list[float]) -> tuple[float, float | None]:
    """Return mean and standard error; one value has none."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
    return float(np.mean(values)), error
