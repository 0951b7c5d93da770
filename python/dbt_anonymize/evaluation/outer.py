"""The body of the Python model ``<anonymization>_outer_quality``, which tests the chosen effort.

No other part of an evaluation reads outer records. The deciding model is trained on all inner
records, as the chosen effort would release them without the outer ones, and tested on all outer
records. Intervals are percentiles over resamples of the outer subjects (Efron 1979); efforts share
the resamples, so differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.evaluation.columns import OUTER_QUALITY
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn
from dbt_anonymize.evaluation.data.relations import SOURCE, query, read_arrays
from dbt_anonymize.evaluation.data.sampling import draw_sample, inner_sql
from dbt_anonymize.evaluation.data.targets import TargetColumn
from dbt_anonymize.evaluation.measures import LOWER_IS_BETTER, Predictions
from dbt_anonymize.evaluation.prediction_measures import prediction_measures
from dbt_anonymize.evaluation.problem import Problem, Target, Task
from dbt_anonymize.evaluation.request import OuterRequest, parse_request
from dbt_anonymize.evaluation.run import Setting, make_models, read_problem
from dbt_anonymize.evaluation.scoring import Place, SplitScorer
from dbt_anonymize.evaluation.splits import Split, Splitting, seeds
from dbt_anonymize.evaluation.suppression import check_recountable
from dbt_anonymize.evaluation.tallies import Tallies
from dbt_anonymize.evaluation.workers import quiet_training

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

RESAMPLES = 1_000
# Resamples of fewer subjects say little about others.
FEWEST_SUBJECTS = 10
NOBODY_OUTER = "no record is outer"
# Evaluations count repetitions from 1.
_REPETITION = 0


def evaluate_outer(
    session: duckdb.DuckDBPyConnection, given: Mapping[str, Any] | None = None, **arguments: Any
) -> pd.DataFrame:
    """Score the chosen effort and effort 0 on the outer records.

    Called by a generated model, see `OuterRequest`. Files of older versions pass ``arguments``,
    which are an `EvaluationError`. Returns a row per effort with the columns of `OUTER_QUALITY`;
    none if no effort is chosen.
    """
    request = parse_request(OuterRequest, given, arguments)
    sql = f"select effort, qf_mean from {SOURCE} where effort = 0 or is_chosen order by effort"  # noqa: S608
    qf = dict(query(request.results, sql).fetchall())
    if len(qf) < 2:
        return _frame([])
    record_key = request.record_key
    efforts = [Effort(**effort) for effort in request.efforts if effort["effort"] in qf]
    target, reading = TargetColumn(**request.target), Reading(**request.reading)
    models = make_models([request.model], [target], reading)
    check_recountable(request.guarantees)
    records = draw_sample(efforts[0].relation, record_key, 2**62, request.random_state)
    columns = [FeatureColumn(**feature) for feature in request.features]
    reader = EffortReader(
        *(efforts[0], columns, reading, records, record_key),
        may_be_hidden=request.suppressed == "missing",
        has_recount=True,
    )
    setting = Setting(
        splitting=Splitting(repetitions=1, test_share=0.5),
        random_state=request.random_state,
        subjects=request.subjects,
        guarantees=request.guarantees,
        population_size=request.population_size,
    )
    problem, _ = read_problem(reader, efforts, [target], models, setting)
    inner = f"cast({inner_sql(request.outer, record_key)} as bigint)"
    is_inner = read_arrays(efforts[0].relation, {"inner": inner}, order_by=record_key)["inner"]
    positions = problem.targets[0].known
    split = Split(
        train=positions[is_inner[positions] == 1], test=positions[is_inner[positions] != 1]
    )
    held_out = HeldOut(problem, split, request.measure, request.test_on, request.confidence)
    with quiet_training():
        return _frame(held_out.rows(list(qf.values())))


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(
        {n: pd.Series([row[n] for row in rows], dtype=kind) for n, kind in OUTER_QUALITY.items()}
    )


@dataclass
class _RecordingScorer(SplitScorer):
    """Scorer that records predictions and the number of released training records."""

    predicted: dict[tuple[int, int, str, str], Predictions] = field(default_factory=dict)
    released: dict[tuple[int, str], int] = field(default_factory=dict)

    def fits(self, effort: int) -> Iterator[tuple[tuple[str, ...], Bools | None, bool]]:
        for fits, released, per_split in super().fits(effort):
            count = 0 if released is None else int(released.sum())
            self.released |= {(effort, fit): count for fit in fits}
            yield fits, released, per_split

    def record_predictions(
        self, places: Sequence[Place], test_on: tuple[str, ...], predicted: Predictions
    ) -> None:
        for effort, _, model, fit in places:
            self.predicted |= {(effort, model, fit, kind): predicted for kind in test_on}


@dataclass(frozen=True)
class HeldOut:
    """A problem with one target and two efforts, and the split into inner and outer records."""

    problem: Problem
    split: Split
    measure: str
    test_on: str
    confidence: float

    def rows(self, qf_means: Sequence[float | None]) -> list[dict[str, Any]]:
        """Return the columns of each effort by name."""
        fit = self.problem.fits[-1]
        scorer, reasons = self._train(fit)
        zero_rule = (0, len(self.problem.models) - 1)
        places = [(0, 0), (1, 0), zero_rule]
        predicted = [scorer.predicted.get((*place, fit, self.test_on)) for place in places]
        everybody = np.arange(len(self.split.test))
        # Without answers there is no judge: its reference cannot be trained either.
        judge = scorer.judge(0) if any(each is not None for each in predicted) else None
        qf = np.array([self.qf(judge, predictions, everybody) for predictions in predicted])
        drawn = np.array(
            [
                [self.qf(judge, predictions, sampled_records) for predictions in predicted]
                for sampled_records in self.resamples()
            ]
        ).reshape(-1, len(places))
        rows = []
        for effort in (0, 1):
            interval, difference, over_zero = (
                self.interval(values)
                for values in (
                    drawn[:, effort],
                    drawn[:, effort] - drawn[:, 0],
                    drawn[:, effort] - drawn[:, 2],
                )
            )
            rows.append(
                {
                    "effort": self.problem.efforts[effort].effort,
                    "target": self.problem.targets[0].name,
                    "model": self.problem.models[0].name,
                    "measure": self.measure,
                    "training_records": scorer.released.get((effort, fit), 0),
                    "outer_records": len(self.split.test),
                    "qf": qf[effort],
                    **dict(zip(("qf_low", "qf_high"), interval, strict=True)),
                    "qf_difference": qf[effort] - qf[0],
                    "qf_difference_low": difference[0],
                    "qf_difference_high": difference[1],
                    "zero_rule": qf[2],
                    "beats_zero_rule": None if np.isnan(over_zero[0]) else over_zero[0] > 0,
                    "qf_mean": qf_means[effort],
                    "reason": reasons.get(effort),
                }
            )
        return rows

    def _train(self, fit: str) -> tuple[_RecordingScorer, dict[int, str | None]]:
        """Train the models; return the scorer, and by effort the reason for a missing score."""
        task = Task(0, _REPETITION, (0, 1))
        seed = seeds(self.problem.random_state, _REPETITION)[1]
        scorer = _RecordingScorer(self.problem, task, 1, self.split, seed, Tallies(), {})
        if not len(self.split.test):
            return scorer, dict.fromkeys(task.efforts, NOBODY_OUTER)
        outcomes = [outcome for effort in task.efforts for outcome in scorer.score_effort(effort)]
        return scorer, {o.effort: o.reason for o in outcomes if (o.model, o.fit) == (0, fit)}

    def qf(self, judge: Target | None, predicted: Predictions | None, rows: Ints) -> float:
        """Return the QF of predictions for a resample of the outer records."""
        if judge is None or predicted is None:
            return np.nan
        predictions = predicted[rows]
        value = prediction_measures(judge, self.split.test[rows], predictions)[self.measure, None]
        return -value if self.measure in LOWER_IS_BETTER else value

    def resamples(self) -> Iterator[Ints]:
        """Yield the outer records of resampled subjects, drawn with replacement."""
        test, groups = self.split.test, self.problem.groups
        subject = np.arange(len(test)) if groups is None else groups[test]
        _, sizes = np.unique(subject, return_counts=True)
        if len(sizes) < FEWEST_SUBJECTS:
            return
        of_subject = np.split(np.argsort(subject, kind="stable"), np.cumsum(sizes)[:-1])
        draws = np.random.default_rng([self.problem.random_state, _REPETITION])
        for _ in range(RESAMPLES):
            picked = draws.integers(len(sizes), size=len(sizes))
            yield picked if groups is None else np.concatenate([of_subject[at] for at in picked])

    def interval(self, values: Floats) -> tuple[float, float]:
        """Return both ends of the interval, skipping resamples with an undefined measure."""
        defined = values[~np.isnan(values)]
        if not len(defined):
            return np.nan, np.nan
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        return float(low), float(high)
