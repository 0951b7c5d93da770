"""The body of the Python model ``<anonymization>_evaluation``: relations in, measures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.grid import make_grid
from dbt_anonymize.evaluation.data.groups import GroupColumn, read_groups
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn, FirstArrays
from dbt_anonymize.evaluation.data.relations import column_kind
from dbt_anonymize.evaluation.data.sampling import Sample, copied_sample, draw_sample, inner_sql
from dbt_anonymize.evaluation.data.subjects import (
    make_recount,
    rank_sql,
    read_subjects,
    sensitive_attributes,
)
from dbt_anonymize.evaluation.data.targets import TargetColumn, target_reader
from dbt_anonymize.evaluation.given import GivenEvaluation, declared
from dbt_anonymize.evaluation.outputs import evaluation_frame, failure_lines, reading_lines
from dbt_anonymize.evaluation.problem import ZERO_RULE, Importance, Model, Problem
from dbt_anonymize.evaluation.progress import Progress, dbt_logger
from dbt_anonymize.evaluation.scoring import Outcome
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.stopwatch import Stopwatch
from dbt_anonymize.evaluation.suppression import check_recountable
from dbt_anonymize.evaluation.tallies import Tallies
from dbt_anonymize.evaluation.workers import make_tasks, run_tasks, worker_count

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


def evaluate(
    session: duckdb.DuckDBPyConnection, given: Mapping[str, Any] | None = None, **arguments: Any
) -> pd.DataFrame:
    """Train models on every effort and score them on records that they have never seen.

    Called by a generated model with the choices of a validated spec, see `GivenEvaluation`;
    relations belong to ``session``. Older versions gave ``arguments``, which only say so.

    Returns one row per fact, see ``outputs.evaluation_frame``; none if the source is empty. What
    relations do not allow is an `EvaluationError`.
    """
    asked = declared(GivenEvaluation, given, arguments)
    log, record_key = dbt_logger(), asked.record_key
    chosen = [Effort(**effort) for effort in asked.efforts]
    wanted = [TargetColumn(**target) for target in asked.targets]
    read_as = Reading(**asked.reading)
    trained = models_of(asked.models, wanted, read_as)
    check_recountable(asked.guarantees)
    drawn = _drawn_sample(asked, chosen[0])
    if drawn.size == 0:
        log.info(f"{asked.anonymization}: no records, so no models are trained")
        return evaluation_frame(None, [], Tallies())
    columns = [FeatureColumn(**feature) for feature in asked.features]
    watch = Stopwatch()
    with copied_sample(session, chosen, drawn, record_key, watch) as (copied, own):
        reader = EffortReader(
            *(copied[0], columns, read_as, own, record_key),
            may_be_hidden=asked.suppressed == "missing",
            has_recount=asked.fit == "per_split",
        )
        setting = Setting(
            splitting=Splitting(**asked.splitting),
            random_state=asked.random_state,
            subjects=asked.subjects,
            guarantees=asked.guarantees,
            population_size=asked.population_size,
            reported_groups=[GroupColumn(**column) for column in asked.reported_groups],
            smallest_group=asked.smallest_group,
            decision_grid=asked.decision_grid,
            confidence=asked.confidence,
        )
        problem, _ = read_problem(reader, copied, wanted, trained, setting, watch=watch)
    if asked.importance is not None:
        names = tuple(feature["name"] for feature in asked.features)
        problem = replace(problem, importance=Importance(asked.importance, names))
    return _run(problem, asked.anonymization, log)


def _drawn_sample(asked: GivenEvaluation, untouched: Effort) -> Sample:
    key, state = asked.record_key, asked.random_state
    seen = None if asked.outer is None else inner_sql(asked.outer, key)
    drawn = draw_sample(untouched.relation, key, asked.sample, state, seen)
    report_sample(drawn, fit=asked.fit, random_state=state, anonymization=asked.anonymization)
    return drawn


def report_sample(drawn: Sample, *, fit: str, random_state: int, anonymization: str) -> None:
    """Say that a part of the records is evaluated; an `EvaluationError` where all are needed."""
    if drawn.size == drawn.records:
        return
    if fit == "per_split":
        raise EvaluationError(
            "fit: per_split must count equivalence classes in the whole table; got a sample of "
            f"{drawn.size} of {drawn.records} records, in which classes are smaller. Raise "
            f"quality.sample to at least {drawn.records} or write fit: once."
        )
    dbt_logger().info(
        f"{anonymization}: a sample of {drawn.size} of {drawn.records} records is evaluated, "
        f"drawn with random state {random_state}"
    )


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Splits of a problem, and what is asked beside its scores; see `GivenEvaluation`."""

    splitting: Splitting
    random_state: int
    subjects: Mapping[str, Any] | None
    guarantees: Sequence[Mapping[str, Any]] = ()
    population_size: int | None = None
    reported_groups: Sequence[GroupColumn] = ()
    smallest_group: int = 1
    decision_grid: Sequence[str] = ()
    confidence: float = 0.95


def read_problem(
    reader: EffortReader,
    efforts: Sequence[Effort],
    targets: Sequence[TargetColumn],
    models: Sequence[Model],
    setting: Setting,
    *,
    watch: Stopwatch | None = None,
) -> tuple[Problem, FirstArrays]:
    """Read targets and efforts, the first of which is that of the reader.

    Returns what efforts share, too, of which others can be made. ``watch`` holds what it took
    before, by the place of the effort.
    """
    relation = reader.sample.of(reader.untouched.relation)
    readers = [target_reader(relation, column, place) for place, column in enumerate(targets)]
    extra = {name: sql for target in readers for name, sql in target.sql.items()}
    sensitive = sensitive_attributes(setting.guarantees)
    for attribute in sensitive:
        column_kind(relation, attribute)
    extra |= {f"sensitive {attribute}": rank_sql(attribute) for attribute in sensitive}
    watch = watch or Stopwatch()
    with watch.running("0"):
        untouched, values, first = reader.first(extra)
    groups = None
    if setting.subjects is not None:
        groups = read_subjects(
            setting.subjects["relation"], setting.subjects["column"], reader, first.keys
        )
    recount = None
    if setting.guarantees:
        recount = make_recount(
            reader,
            setting.guarantees,
            values,
            subjects=groups,
            population_size=setting.population_size,
        )
    grid = None
    if setting.decision_grid:
        names = [column.name for column in reader.columns]
        grid = make_grid(names, first.columns, (setting.decision_grid[0], setting.decision_grid[1]))
    further = []
    for place, effort in enumerate(efforts[1:], start=1):
        with watch.running(str(place)):
            further.append(reader.further(effort, first))
    problem = Problem(
        targets=[target.target(values, setting.splitting, groups) for target in readers],
        models=models,
        efforts=[untouched, *further],
        splitting=setting.splitting,
        random_state=setting.random_state,
        confidence=setting.confidence,
        keeps_suppressed=reader.may_be_hidden,
        groups=groups,
        recount=recount,
        reported_groups=read_groups(
            setting.reported_groups, reader, first.keys, groups, setting.smallest_group
        ),
        grid=grid,
        read_seconds=list(watch.take().values()),
    )
    return problem, first


def _run(problem: Problem, anonymization: str, log: Any) -> pd.DataFrame:
    for line in reading_lines(problem):
        log.info(f"{anonymization}: {line}")
    workers = worker_count()
    targets, efforts = len(problem.targets), len(problem.efforts)
    tasks = make_tasks(targets, problem.splitting.repetitions, efforts, workers)
    of_a_split = problem.fitted_models(efforts)
    total = targets * problem.splitting.splits * of_a_split
    progress = Progress(anonymization, total, log.info, first=of_a_split)
    outcomes: list[Outcome] = []
    tallies = Tallies()
    largest: dict[int, float] = {}
    for result in run_tasks(problem, tasks, workers, progress):
        outcomes.extend(result.outcomes)
        tallies.merge(result.tallies)
        for effort, share in result.suppressed.items():
            largest[effort] = max(share, largest.get(effort, 0.0))
    outcomes.sort(key=lambda outcome: outcome.order)
    for effort, share in sorted(largest.items()):
        log.info(
            f"{anonymization}: fit: per_split suppresses at most {share:.1%} of the training "
            f"records of effort {problem.efforts[effort].effort}"
        )
    for line in failure_lines(problem, outcomes):
        log.warning(f"{anonymization}: {line}")
    return evaluation_frame(problem, outcomes, tallies)


def models_of(
    given: Sequence[Mapping[str, Any]], targets: Sequence[TargetColumn], reading: Reading
) -> list[Model]:
    """Return models as a generated model hands them over, and the baseline of relative measures.

    Each sees features in a space, by whether it splits them. What cannot be made is refused before
    anything is read.
    """
    tasks = list(dict.fromkeys(target.task for target in targets))
    baseline = [{"name": ZERO_RULE, "model": ZERO_RULE}]
    has_baseline = any(one["name"] == ZERO_RULE for one in given)
    models: list[Model] = []
    for one in [*given, *([] if has_baseline else baseline)]:
        name, parameters = one["model"], dict(one.get("parameters") or {})
        for task in tasks:
            estimators.make_estimator(name, parameters, 0, task)
        # The zero rule looks at no feature: any space will do.
        space = models[0].space if name == ZERO_RULE and models else reading.space(name, tasks[0])
        models.append(Model(one["name"], name, parameters, space))
    return models
