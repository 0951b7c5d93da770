"""Race: candidates are trained in rounds, and the better ones stay for more splits.

Model, target and measure are the deciding ones of the evaluation; the splits are different ones.
All candidates are scored on the same splits, on untouched or generalized records by the spec.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.evaluation.measures import LOWER_IS_BETTER
from dbt_anonymize.evaluation.problem import ZERO_RULE, EffortData, Model, Task
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.workers import run_tasks, worker_count
from dbt_anonymize.extensions.search.leveled import generalized_effort
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.extensions.search.training import TrainingProgress
from dbt_anonymize.privacy.table import Node
from dbt_anonymize.spec.quality import MOST_REPETITIONS, Quality

# Splits of each round, and its most candidates.
ROUNDS = ((1, math.inf), (3, 15), (10, 5))
# Splits of the first two rounds: differences over fewer are chance.
FEWEST_SPLITS = sum(splits for splits, _ in ROUNDS[:2])
# Splits of all rounds.
SPLITS = sum(splits for splits, _ in ROUNDS)
# Candidates whose mean scores differ by less are equal.
EQUAL = 0.002
# Models that are trained between two checks of the budget.
_MOST_MODELS_AT_ONCE = 50
# Candidates that share a task of a worker and its split.
_CANDIDATES_PER_TASK = 5
# First of the splits that no evaluation draws.
_FIRST_SPLIT = MOST_REPETITIONS + 1

# Levels of each round and number of suppressed records, which identify a generalized table.
Key = tuple[tuple[Node, ...], int]


@dataclass(frozen=True)
class Candidate:
    """Feasible levels for a class size.

    Attributes
    ----------
    checked : CheckedNode
        Check of the levels; the node of several rounds has the coarsest level of each attribute.
    required : int
        Class size.
    suppressed, classes : arrays, shape (records,)
        Mask of suppressed records, and class of each record, of those that models are trained on.
    rounds : tuple of Node
        Levels of each round of a local recoding; empty for full-domain recoding.
    round_of : array, shape (records,), or None
        The round that releases each record.
    """

    checked: CheckedNode
    required: int
    suppressed: Bools
    classes: Ints
    rounds: tuple[Node, ...] = ()
    round_of: Ints | None = None

    @property
    def key(self) -> Key:
        """Equal for equal generalized tables."""
        return self.rounds or (self.checked.node,), self.checked.suppressed

    @property
    def levels(self) -> Sequence[int] | Ints:
        """The level of each attribute, or of each attribute and record."""
        return (
            self.checked.node if self.round_of is None else np.array(self.rounds)[self.round_of].T
        )


@dataclass
class Budget:
    """Budget of a race: trained models, or seconds of all workers; None is no limit."""

    evaluations: int | None = None
    seconds: float | None = None
    trained: int = 0
    spent: float = 0.0
    is_timed: bool = False
    """True where seconds ended the training of something, of a part too."""

    @property
    def is_spent(self) -> bool:
        """Tell whether the budget for training is used up."""
        return self._is_over(self.trained, self.evaluations) or self._is_over(
            self.spent, self.seconds
        )

    @property
    def is_out_of_time(self) -> bool:
        """Tell whether the seconds are used up."""
        return self._is_over(self.spent, self.seconds)

    @staticmethod
    def _is_over(used: float, limit: float | None) -> bool:
        return limit is not None and used >= limit

    def affordable(self) -> int:
        """Return the number of models to train next; one while their seconds are unknown."""
        most = _MOST_MODELS_AT_ONCE
        if self.evaluations is not None:
            most = min(most, self.evaluations - self.trained)
        if self.seconds is not None:
            seconds_per_model = self.spent / max(self.trained, 1)
            most = min(
                most,
                int((self.seconds - self.spent) / seconds_per_model) if seconds_per_model else 1,
            )
        return max(most, 1)

    def share(self, share: float) -> Budget:
        """Return a part of the remaining budget."""
        evaluations = None if self.evaluations is None else max(self.evaluations - self.trained, 0)
        seconds = None if self.seconds is None else max(self.seconds - self.spent, 0.0)
        return Budget(
            None if evaluations is None else math.ceil(evaluations * share),
            None if seconds is None else seconds * share,
        )

    def pay(self, part: Budget) -> None:
        """Count the cost of a part."""
        self.trained += part.trained
        self.spent += part.spent
        self.is_timed |= part.is_timed


@dataclass
class Track:
    """Trainer of candidates, each at most once per split, with a cache of scores.

    Higher scores are better.
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
        """Return the winner of candidates, which are sorted by promise.

        Candidates that ``stay`` are in all rounds.
        """
        remaining = list(candidates)
        splits = 0
        for splits_of_round, most_candidates in ROUNDS:
            remaining = [
                candidate
                for place, candidate in enumerate(remaining)
                if place < most_candidates or candidate.key in stay
            ]
            self.advance(remaining, range(splits, splits + splits_of_round), budget)
            splits += splits_of_round
            remaining = self._sorted_by_score(remaining)
            if budget.is_spent:
                budget.is_timed |= budget.is_out_of_time
                break
        return self._best_of_equals(remaining)

    def preferred(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best of trained candidates; of equal ones that of the largest k."""
        return self._best_of_equals(self._sorted_by_score(candidates))

    def difference(self, better: Candidate, reference: Candidate) -> float | None:
        """Return the difference of mean scores on the splits that both were trained on.

        None if these are fewer than `FEWEST_SPLITS`.
        """
        splits = min(self.splits(better), self.splits(reference))
        means = [self._mean(each, splits) for each in (better, reference)]
        if splits < FEWEST_SPLITS or not np.isfinite(means).all():
            return None
        return means[0] - means[1]

    def _sorted_by_score(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates by their scores on the splits common to all trained ones."""
        common = min(
            (splits for candidate in candidates if (splits := self.splits(candidate))), default=0
        )
        return sorted(candidates, key=lambda candidate: -self._mean(candidate, common))

    def _best_of_equals(self, ordered: Sequence[Candidate]) -> Candidate:
        """Return, of the candidates equal to the first, that of the largest k and least loss."""
        equal = self._equal_to_first(ordered)
        return max(
            equal,
            key=lambda candidate: (candidate.checked.k, -candidate.checked.loss),
            default=ordered[0],
        )

    def _equal_to_first(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that score as well as the first on its splits."""
        splits = self.splits(candidates[0])
        best = self._mean(candidates[0], splits) - EQUAL
        equal = [candidate for candidate in candidates if self.splits(candidate) >= splits > 0]
        return [candidate for candidate in equal if self._mean(candidate, splits) >= best]

    def gain(self, better: Candidate, reference: Candidate, budget: Budget) -> float | None:
        """Return the difference of mean scores on fresh splits, after those of all rounds.

        The best of many in a race is partly lucky; fresh splits have chosen neither candidate.
        """
        fresh = range(SPLITS, 2 * SPLITS)
        self.advance([better, reference], fresh, budget)
        scores = [self.scores.get(candidate.key, {}) for candidate in (better, reference)]
        if not all(
            split in scores_of_candidate for split in fresh for scores_of_candidate in scores
        ):
            return None
        return float(np.mean([scores[0][split] - scores[1][split] for split in fresh]))

    def splits(self, candidate: Candidate) -> int:
        """Return the number of first splits that a candidate was trained on without a gap."""
        scores = self.scores.get(candidate.key, {})
        return next((split for split in range(SPLITS) if split not in scores), SPLITS)

    def _mean(self, candidate: Candidate, splits: int) -> float:
        """Return the mean score on the first splits; minus infinity where one is missing."""
        scores = self.scores.get(candidate.key, {})
        first_scores = [scores.get(split, -math.inf) for split in range(splits)]
        return float(np.mean(first_scores)) if first_scores else -math.inf

    def advance(self, candidates: Sequence[Candidate], splits: range, budget: Budget) -> None:
        """Train candidates on splits, the first of them first, as far as the budget goes."""
        waiting = [
            (candidate, split)
            for split in splits
            for candidate in {by_key.key: by_key for by_key in candidates}.values()
            if split not in self.scores.get(candidate.key, {})
        ]
        while waiting and not budget.is_spent:
            size = budget.affordable()
            now, waiting = waiting[:size], waiting[size:]
            budget.spent += self.train(now)
            budget.trained += len(now)
        budget.is_timed |= bool(waiting) and budget.is_out_of_time

    def train(self, pairs: Sequence[tuple[Candidate, int]]) -> float:
        """Train each candidate on its split; return the seconds of all workers."""
        position: dict[Key, int] = {}
        efforts: list[EffortData] = []
        for candidate, _ in pairs:
            if candidate.key not in position:
                efforts.append(self.effort(candidate))
                position[candidate.key] = len(efforts)
        places = [(position[candidate.key], split) for candidate, split in pairs]
        scores, seconds = self._run(efforts, places, self._model)
        for (candidate, split), at in zip(pairs, places, strict=True):
            self.scores.setdefault(candidate.key, {})[split] = scores[at]
        return seconds

    def trained(self, candidate: Candidate, splits: range, budget: Budget) -> list[float]:
        """Return the scores of a candidate on splits; the budget pays the seconds."""
        scores = self.scores.setdefault(candidate.key, {})
        if missing := [(candidate, split) for split in splits if split not in scores]:
            budget.spent += self.train(missing)
        return [scores[split] for split in splits]

    def effort(self, candidate: Candidate) -> EffortData:
        """Return the data of a candidate."""
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
        missing = [(0, split) for split in splits if split not in self._untouched]
        for model, scores in ((self._model, self._untouched), (zero_rule, self._zero_rule)):
            new_scores, seconds = self._run([], missing, model) if missing else ({}, 0.0)
            scores.update({split: new_scores[0, split] for _, split in missing})
            if budget is not None:
                budget.spent += seconds
        untouched, zero_rule_scores = (
            [scores[split] for split in splits] for scores in (self._untouched, self._zero_rule)
        )
        return untouched, zero_rule_scores

    @property
    def rows(self) -> Ints:
        """The row of the table of each record."""
        return self.records.rows

    @property
    def _model(self) -> Model:
        return self.records.problem.models[0]

    def _run(
        self, efforts: Sequence[EffortData], places: Sequence[tuple[int, int]], model: Model
    ) -> tuple[Mapping[tuple[int, int], float], float]:
        """Return scores by position of the effort (0 is the untouched one) and split, and seconds.

        A missing score is minus infinity.
        """
        whole = self.records.problem
        problem = replace(
            whole,
            targets=whole.targets[:1],
            models=[model],
            efforts=[whole.efforts[0], *efforts],
            splitting=Splitting(repetitions=1, test_share=self.test_share),
        )
        tasks = _tasks(places)
        scores: dict[tuple[int, int], float] = {}
        seconds = 0.0
        for result in run_tasks(problem, tasks, worker_count(), self.progress.of(len(tasks))):
            for outcome in result.outcomes:
                split = outcome.repetition - _FIRST_SPLIT
                scores[outcome.effort, split] = self._value(outcome.measures)
                seconds += sum(outcome.seconds.values())
        return scores, seconds

    @property
    def test_share(self) -> float:
        """Share of the records that are tested in a split."""
        return self.quality.test_share or 1.0 / (self.quality.folds or 2)

    def _value(self, measures: Mapping[str, Mapping[tuple[str, int | None], float]]) -> float:
        measures_of_form = measures.get(self.quality.test_on, {})
        value = measures_of_form.get((self.quality.measure, None), math.nan)
        if math.isnan(value):
            return -math.inf
        return -value if self.quality.measure in LOWER_IS_BETTER else value


def _tasks(places: Sequence[tuple[int, int]]) -> list[Task]:
    """Return tasks that cover positions on splits; positions of a split share its draw.

    Examples
    --------
    >>> [task.efforts for task in _tasks([(1, 0), (2, 0), (1, 1)])]
    [(1, 2), (1,)]
    """
    positions_by_split: dict[int, list[int]] = {}
    for position, split in places:
        positions_by_split.setdefault(split, []).append(position)
    return [
        Task(0, _FIRST_SPLIT + split, tuple(positions[at : at + _CANDIDATES_PER_TASK]))
        for split, positions in positions_by_split.items()
        for at in range(0, len(positions), _CANDIDATES_PER_TASK)
    ]
