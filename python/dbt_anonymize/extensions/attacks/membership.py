"""Membership inference: whether a model was trained on somebody's record.

Half of the records are members: the model of the spec that decides is trained on their released
version. The attacker has the original records of members and of as many others, asks the model
about each, and takes those for members about which it is surest: the probability of the true class,
whether the class is right where a model gives no probability, or how near a predicted number is.
The same is done with a model that is trained on the original records of the same members.

Suppressed records are left out on both sides: they train nothing, and they are rare, which would
tell them from the members by itself.
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

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.reading import PER_RECORD, Effort, EffortReader
from dbt_anonymize.evaluation.data.sampling import draw_sample
from dbt_anonymize.evaluation.data.targets import TargetColumn
from dbt_anonymize.evaluation.measures import Predicted
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

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Enough for a standard error of less than 0.01 of one repetition, and quick for every model.
MEMBERSHIP_SAMPLE = 20_000
# Position of the efforts in a problem.
_TRAINED_ON = {0: "original records", 1: "the release"}


@dataclass(frozen=True)
class Advantage:
    """Advantage of an attacker whose scores tell members from others.

    ``auc``: how often a member scores higher than another (ties count half); ``found`` and
    ``wrong``: the shares of members and of others above the threshold at which they differ most.
    """

    auc: float
    found: float
    wrong: float


def advantage(scores: Floats, is_member: Bools) -> Advantage:
    """Return how well scores, higher where membership is likelier, tell members from others.

    Examples
    --------
    >>> advantage(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    Advantage(auc=0.875, found=0.5, wrong=0.0)
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    # Behind the last of each score.
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    members = np.cumsum(is_member[order])[ends]
    found, wrong = members / members[-1], (ends + 1 - members) / (ends[-1] + 1 - members[-1])
    auc = np.trapezoid(np.append(0, found), np.append(0, wrong))
    best = int((found - wrong).argmax())
    return Advantage(float(auc), float(found[best]), float(wrong[best]))


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
    if spec.task == "survival":
        return [_impossible(name, "time-to-event models are not supported by this attack")]
    try:
        problem = _read(session, spec, effort, repetitions, largest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [_repetition(problem, r) for r in range(1, repetitions + 1)]
    except EvaluationError as error:
        return [_impossible(name, str(error))]
    return [
        result
        for position in _TRAINED_ON
        for result in _summarized(name, position, [one[position] for one in found])
    ]


def _impossible(model: str, reason: str) -> AttackResult:
    message = f"membership of the training records of {model} was not attacked: {reason}"
    return replace(_not_attacked(message), against=model)


def _not_attacked(message: str) -> AttackResult:
    return AttackResult("membership_inference", "auc", None, message)


@dataclass(frozen=True)
class _Found:
    """Result of one repetition for one model."""

    reached: Advantage
    shuffled: Advantage
    records: int


def _read(session: Session, spec: Spec, effort: int, repetitions: int, largest: int) -> Problem:
    """Read the untouched and the released effort as the evaluation does."""

    def relation(name: str) -> Any:
        found = session.warehouse.relation_of_ref(name)
        return session.cursor.query(f"select * from {found}")

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
    further = Effort(effort, relation(f"{spec.name}_effort_{effort}"), levels, released.k)
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


def _repetition(problem: Problem, repetition: int) -> list[_Found]:
    """Draw members, train both models, and attack them."""
    split_seed, model_seed = seeds(problem.random_state, repetition)
    (target,) = problem.targets
    (drawn,) = target.splits(problem.splitting, split_seed, problem.groups)
    suppressed = problem.efforts[1].suppressed
    members = drawn.train[~suppressed[drawn.train]]
    others = drawn.test[~suppressed[drawn.test]]
    if not len(members) or not len(others):
        raise EvaluationError("members and others must be released; got none. Use more records.")
    asked = np.concatenate([members, others])
    is_member = np.arange(len(asked)) < len(members)
    shuffled = np.random.default_rng(model_seed).permutation(is_member)
    found = []
    for position in _TRAINED_ON:
        scores = _scores(problem, position, Split(train=members, test=asked), model_seed)
        result = _Found(advantage(scores, is_member), advantage(scores, shuffled), len(asked))
        found.append(result)
    return found


def _scores(problem: Problem, position: int, split: Split, seed: int) -> Floats:
    """Return how sure the model is about the original version of each asked record."""
    (target,), (model,) = problem.targets, problem.models
    everybody = np.ones(len(split.train), dtype=np.bool_)
    # What a value stands for is learned from the members alone, as everything else.
    view = make_view(problem, position, split, everybody, space=model.space, per_split=True)
    rows, place = _original(view)
    estimator = estimators.make_estimator(model.model, model.parameters, seed, target.task)
    is_scaled = estimators.estimator_type(model.model, target.task).is_scaled
    predicted = fit_predict(estimator, view.training, target, rows, is_scaled=is_scaled)
    return _certainty(predicted, target, place, split)


def _original(view: View) -> tuple[Floats, NDArray[np.int64]]:
    (asked,) = [each for each in view.test_sets if ORIGINAL in each.test_on]
    return asked.rows, asked.place


def _certainty(
    predicted: Predicted | Floats, target: Target, place: NDArray[np.int64], split: Split
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


def _summarized(model: str, position: int, found: list[_Found]) -> list[AttackResult]:
    trained_on = _TRAINED_ON[position]
    against = model if position else f"{model}, trained on {trained_on}"
    people = max(one.records for one in found)
    auc, auc_error = _mean([one.reached.auc for one in found])
    taken, _ = _mean([one.reached.found for one in found])
    wrongly, _ = _mean([one.reached.wrong for one in found])
    more, error = _mean([one.reached.found - one.reached.wrong for one in found])
    shuffled, _ = _mean([one.shuffled.found - one.shuffled.wrong for one in found])
    naive, _ = _mean([one.shuffled.found for one in found])
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
            taken,
            f"with the best threshold, {more:.1%} more of the members of {model}, "
            f"trained on {trained_on}, than of others are taken for members; with shuffled members "
            f"{shuffled:.1%}.",
            against=against,
            control=wrongly,
            naive=naive,
            risk=excess(taken, wrongly),
            standard_error=error,
            subjects=people,
        ),
    ]


def _mean(values: list[float]) -> tuple[float, float | None]:
    """Return mean and standard error; one value has none."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
    return float(np.mean(values)), error
