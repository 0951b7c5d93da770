"""Race: candidates are trained in rounds, and the better ones stay for more splits.

The models, the target and the measure are those that decide in the evaluation; the splits are
others. Candidates are scored on the same splits, on untouched records or, as the spec says, on
generalized ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dbt_anonymize.evaluation.arrays import Bools, Codes
from dbt_anonymize.evaluation.data.leveled import generalized_effort
from dbt_anonymize.evaluation.measures import LOWER_IS_BETTER
from dbt_anonymize.evaluation.problem import ZERO_RULE, EffortData, Model, Task
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.workers import run_tasks, worker_count
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.extensions.search.training import TrainingProgress
from dbt_anonymize.privacy.table import IntArray, Node
from dbt_anonymize.spec.quality import MOST_REPETITIONS, Quality

# Splits of each round, and how many candidates are in it.
ROUNDS = ((1, math.inf), (3, 15), (10, 5))
# Differences of fewer are chance: those of the first two rounds.
FEWEST_SPLITS = sum(splits for splits, _ in ROUNDS[:2])
# Splits of all rounds.
SPLITS = sum(splits for splits, _ in ROUNDS)
# Candidates whose mean scores differ by less are equal.
EQUAL = 0.002
# Models that are trained before the budget is looked at again.
_MOST_AT_ONCE = 50
# Candidates that are trained in one task of a worker, on a split that is drawn once.
_TOGETHER = 5
# Splits that no evaluation draws.
_FIRST_SPLIT = MOST_REPETITIONS + 1

# The levels of each round, and how many records are suppressed: what makes a generalized table
# another one.
Key = tuple[tuple[Node, ...], int]


@dataclass(frozen=True)
class Candidate:
    """Levels that are feasible with a class size, before they are trained on.

    Attributes
    ----------
    checked : CheckedNode
        What is known of them; the node of several rounds is the coarsest level of each attribute.
    required : int
        Class size.
    suppressed, classes : arrays, shape (records,)
        Of the records that models are trained on, which are suppressed, and their classes.
    rounds : tuple of Node
        Levels of each round of a local recoding; none where all records have the same.
    round_of : array, shape (records,), or None
        The round that releases each record.
    """

    checked: CheckedNode
    required: int
    suppressed: Bools
    classes: Codes
    rounds: tuple[Node, ...] = ()
    round_of: Codes | None = None

    @property
    def key(self) -> Key:
        """Equal for equal generalized tables."""
        return self.rounds or (self.checked.node,), self.checked.suppressed

    @property
    def levels(self) -> Sequence[int] | Codes:
        """The level of each attribute, or of each attribute and record."""
        return (
            self.checked.node if self.round_of is None else np.array(self.rounds)[self.round_of].T
        )


@dataclass
class Budget:
    """Cost that a race may have: trained models, or seconds of all workers; None is without end."""

    evaluations: int | None = None
    seconds: float | None = None
    trained: int = 0
    spent: float = 0.0

    @property
    def is_spent(self) -> bool:
        """Tell whether the budget for training is used up."""
        return self._is_over(self.trained, self.evaluations) or self._is_over(
            self.spent, self.seconds
        )

    @staticmethod
    def _is_over(used: float, limit: float | None) -> bool:
        return limit is not None and used >= limit

    def affordable(self) -> int:
        """Return how many models are trained next: one where nothing is known of their seconds."""
        most = _MOST_AT_ONCE
        if self.evaluations is not None:
            most = min(most, self.evaluations - self.trained)
        if self.seconds is not None:
            each = self.spent / max(self.trained, 1)
            most = min(most, int((self.seconds - self.spent) / each) if each else 1)
        return max(most, 1)

    def share(self, share: float) -> Budget:
        """Return a part of what is left."""
        left = None if self.evaluations is None else max(self.evaluations - self.trained, 0)
        seconds = None if self.seconds is None else max(self.seconds - self.spent, 0.0)
        return Budget(
            None if left is None else math.ceil(left * share),
            None if seconds is None else seconds * share,
        )

    def pay(self, part: Budget) -> None:
        """Count what a part has used."""
        self.trained += part.trained
        self.spent += part.spent


@dataclass
class Track:
    """Trains candidates, each at most once on a split, and remembers their scores.

    Scores are higher where models do better.
    """

    records: Records
    quality: Quality
    names: Sequence[str]
    progress: TrainingProgress = field(default_factory=lambda: TrainingProgress(None))
    scores: dict[Key, dict[int, float]] = field(default_factory=dict)
    _untouched: dict[int, float] = field(default_factory=dict)
    _zero_rule: dict[int, float] = field(default_factory=dict)

    def race(
        self, candidates: Sequence[Candidate], budget: Budget, stay: Collection[Key] = ()
    ) -> Candidate:
        """Return the winner of candidates, the most promising of which is the first.

        Those that ``stay`` are in all rounds.
        """
        left = list(candidates)
        splits = 0
        for of_round, most in ROUNDS:
            left = [one for at, one in enumerate(left) if at < most or one.key in stay]
            self.advance(left, range(splits, splits + of_round), budget)
            splits += of_round
            left = self._ordered(left)
            if budget.is_spent:
                break
        return self._largest(left)

    def preferred(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best of candidates that were trained; of equal ones that of the largest k."""
        return self._largest(self._ordered(candidates))

    def difference(self, one: Candidate, other: Candidate) -> float | None:
        """Return by how much a candidate does better on the splits that both were trained on.

        None where these are fewer than `FEWEST_SPLITS`.
        """
        splits = min(self.splits(one), self.splits(other))
        means = [self._mean(each, splits) for each in (one, other)]
        if splits < FEWEST_SPLITS or not np.isfinite(means).all():
            return None
        return means[0] - means[1]

    def _ordered(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates by their scores on the splits that all have that have any."""
        common = min((known for one in candidates if (known := self.splits(one))), default=0)
        return sorted(candidates, key=lambda one: -self._mean(one, common))

    def _largest(self, ordered: Sequence[Candidate]) -> Candidate:
        """Return of the candidates that are as good as the first the largest k, the least loss."""
        equal = self._equal(ordered)
        return max(equal, key=lambda one: (one.checked.k, -one.checked.loss), default=ordered[0])

    def _equal(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that do as well as the first on the splits that it has."""
        known = self.splits(candidates[0])
        best = self._mean(candidates[0], known) - EQUAL
        equal = [one for one in candidates if self.splits(one) >= known > 0]
        return [one for one in equal if self._mean(one, known) >= best]

    def gain(self, one: Candidate, other: Candidate, budget: Budget) -> float | None:
        """Return by how much a candidate does better on splits after those of all rounds.

        Which of many looks best in a race owes something to luck; these splits chose neither.
        """
        fresh = range(SPLITS, 2 * SPLITS)
        self.advance([one, other], fresh, budget)
        known = [self.scores.get(each.key, {}) for each in (one, other)]
        if not all(split in of for split in fresh for of in known):
            return None
        return float(np.mean([known[0][split] - known[1][split] for split in fresh]))

    def splits(self, candidate: Candidate) -> int:
        """Return on how many of the first splits of rounds a candidate was trained."""
        known = self.scores.get(candidate.key, {})
        return next((split for split in range(SPLITS) if split not in known), SPLITS)

    def _mean(self, candidate: Candidate, splits: int) -> float:
        """Return the mean score on the first splits; minus infinity where one is missing."""
        known = self.scores.get(candidate.key, {})
        found = [known.get(split, -math.inf) for split in range(splits)]
        return float(np.mean(found)) if found else -math.inf

    def advance(self, candidates: Sequence[Candidate], splits: range, budget: Budget) -> None:
        """Train candidates on splits, the first of them first, as far as the budget goes."""
        waiting = [
            (one, split)
            for split in splits
            for one in {each.key: each for each in candidates}.values()
            if split not in self.scores.get(one.key, {})
        ]
        while waiting and not budget.is_spent:
            size = budget.affordable()
            now, waiting = waiting[:size], waiting[size:]
            budget.spent += self.train(now)
            budget.trained += len(now)

    def train(self, pairs: Sequence[tuple[Candidate, int]]) -> float:
        """Train each candidate on its split; return the seconds of all workers."""
        position: dict[Key, int] = {}
        efforts: list[EffortData] = []
        for one, _ in pairs:
            if one.key not in position:
                efforts.append(self.effort(one))
                position[one.key] = len(efforts)
        asked = [(position[one.key], split) for one, split in pairs]
        found, seconds = self._run(efforts, asked, self._model)
        for (one, split), at in zip(pairs, asked, strict=True):
            self.scores.setdefault(one.key, {})[split] = found[at]
        return seconds

    def trained(self, candidate: Candidate, splits: range, budget: Budget) -> list[float]:
        """Return the scores of a candidate on splits; the budget pays the seconds."""
        known = self.scores.setdefault(candidate.key, {})
        if missing := [(candidate, split) for split in splits if split not in known]:
            budget.spent += self.train(missing)
        return [known[split] for split in splits]

    def effort(self, candidate: Candidate) -> EffortData:
        """Return a candidate as models see it."""
        return generalized_effort(
            self.records.reader,
            self.records.first,
            dict(zip(self.names, candidate.levels, strict=True)),
            candidate.suppressed,
            candidate.classes,
        )

    def baselines(
        self, splits: range, budget: Budget | None = None
    ) -> tuple[list[float], list[float]]:
        """Return scores of the untouched table and of the zero rule on splits.

        A ``budget`` pays the seconds.
        """
        zero_rule = replace(self._model, name=ZERO_RULE, model=ZERO_RULE, parameters={})
        asked = [(0, split) for split in splits if split not in self._untouched]
        for model, known in ((self._model, self._untouched), (zero_rule, self._zero_rule)):
            found, seconds = self._run([], asked, model) if asked else ({}, 0.0)
            known.update({split: found[0, split] for _, split in asked})
            if budget is not None:
                budget.spent += seconds
        untouched, ruled = (
            [known[split] for split in splits] for known in (self._untouched, self._zero_rule)
        )
        return untouched, ruled

    @property
    def rows(self) -> IntArray:
        """The row of the table of each record."""
        return self.records.rows

    @property
    def _model(self) -> Model:
        return self.records.problem.models[0]

    def _run(
        self, efforts: Sequence[EffortData], asked: Sequence[tuple[int, int]], model: Model
    ) -> tuple[Mapping[tuple[int, int], float], float]:
        """Return scores by position of the effort, from 1 on, and split; 0 is the untouched one.

        A score that is not known is minus infinity.
        """
        whole = self.records.problem
        problem = replace(
            whole,
            targets=whole.targets[:1],
            models=[model],
            efforts=[whole.efforts[0], *efforts],
            splitting=Splitting(repetitions=1, test_share=self.test_share),
        )
        tasks = _tasks(asked)
        found: dict[tuple[int, int], float] = {}
        seconds = 0.0
        for result in run_tasks(problem, tasks, worker_count(), self.progress.of(len(tasks))):
            for outcome in result.outcomes:
                split = outcome.repetition - _FIRST_SPLIT
                found[outcome.effort, split] = self._value(outcome.measures)
                seconds += sum(outcome.seconds.values())
        return found, seconds

    @property
    def test_share(self) -> float:
        """Share of the records that are tested in a split."""
        return self.quality.test_share or 1.0 / (self.quality.folds or 2)

    def _value(self, measures: Mapping[str, Mapping[tuple[str, int | None], float]]) -> float:
        of_records = measures.get(self.quality.test_on, {})
        value = of_records.get((self.quality.measure, None), math.nan)
        if math.isnan(value):
            return -math.inf
        return -value if self.quality.measure in LOWER_IS_BETTER else value


def _tasks(asked: Sequence[tuple[int, int]]) -> list[Task]:
    """Return tasks that cover positions on splits; those of a split draw it together.

    Examples
    --------
    >>> [task.efforts for task in _tasks([(1, 0), (2, 0), (1, 1)])]
    [(1, 2), (1,)]
    """
    of_split: dict[int, list[int]] = {}
    for position, split in asked:
        of_split.setdefault(split, []).append(position)
    return [
        Task(0, _FIRST_SPLIT + split, tuple(positions[at : at + _TOGETHER]))
        for split, positions in of_split.items()
        for at in range(0, len(positions), _TOGETHER)
    ]
