"""The body of the Python model ``<anonymization>_evaluation``: relations in, measures out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.data.features import Reading
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
from dbt_anonymize.evaluation.outputs import evaluation_frame, failure_lines, reading_lines
from dbt_anonymize.evaluation.problem import ZERO_RULE, Model, Problem
from dbt_anonymize.evaluation.progress import Progress, dbt_logger
from dbt_anonymize.evaluation.request import EvaluationRequest, parse_request
from dbt_anonymize.evaluation.scoring import Outcome
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.stopwatch import Stopwatch
from dbt_anonymize.evaluation.suppression import check_recountable
from dbt_anonymize.evaluation.tallies import Tallies
from dbt_anonymize.evaluation.workers import make_tasks, run_tasks, worker_count
from dbt_anonymize.extension import inspections

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


def evaluate(
    session: duckdb.DuckDBPyConnection, given: Mapping[str, Any] | None = None, **arguments: Any
) -> pd.DataFrame:
    """Train models on every effort and score them on records that they have never seen.

    Called by a generated model with the choices of a validated spec, see `EvaluationRequest`;
    relations belong to ``session``. Files of older versions pass ``arguments``, which are an
    `EvaluationError`.

    Returns one row per fact, see ``outputs.evaluation_frame``; none if the source is empty.
    Relations that cannot be evaluated are an `EvaluationError`.
    """
    return evaluate_request(session, parse_request(EvaluationRequest, given, arguments))


def evaluate_request(
    session: duckdb.DuckDBPyConnection,
    request: EvaluationRequest,
    complete: Callable[[Problem, EffortReader, FirstArrays], Problem] | None = None,
) -> pd.DataFrame:
    """Evaluate a request; ``complete`` adds to the problem what it reads beside."""
    log, record_key = dbt_logger(), request.record_key
    efforts = [Effort(**effort) for effort in request.efforts]
    targets = [TargetColumn(**target) for target in request.targets]
    reading = Reading(**request.reading)
    models = make_models(request.models, targets, reading)
    check_recountable(request.guarantees, may_fit_once=request.may_fit_once)
    sample = _draw_sample(request, efforts[0])
    if sample.size == 0:
        log.info(f"{request.anonymization}: no records, so no models are trained")
        return evaluation_frame(None, [], Tallies())
    columns = [FeatureColumn(**feature) for feature in request.features]
    watch = Stopwatch()
    with copied_sample(session, efforts, sample, record_key, watch) as (copies, copied_part):
        reader = EffortReader(
            *(copies[0], columns, reading, copied_part, record_key),
            may_be_hidden=request.suppressed == "missing",
            has_recount=request.fit == "per_split",
        )
        setting = Setting(
            splitting=Splitting(**request.splitting),
            random_state=request.random_state,
            subjects=request.subjects,
            guarantees=request.guarantees,
            population_size=request.population_size,
            confidence=request.confidence,
        )
        problem, first = read_problem(reader, copies, targets, models, setting, watch=watch)
        if complete is not None:
            problem = complete(problem, reader, first)
        asked = [
            inspection
            for name, inspections_of in inspections()
            for inspection in inspections_of(
                request.inspections.get(name, {}), problem, reader, first
            )
        ]
        problem = replace(problem, inspections=asked)
    return _train_and_report(problem, request.anonymization, log)


def _draw_sample(request: EvaluationRequest, untouched: Effort) -> Sample:
    key, state = request.record_key, request.random_state
    is_inner = None if request.outer is None else inner_sql(request.outer, key)
    sample = draw_sample(untouched.relation, key, request.sample, state, is_inner)
    report_sample(
        sample,
        fit=request.fit,
        random_state=state,
        anonymization=request.anonymization,
        may_fit_once=request.may_fit_once,
    )
    return sample


def report_sample(
    sample: Sample, *, fit: str, random_state: int, anonymization: str, may_fit_once: bool = True
) -> None:
    """Log that a sample is evaluated; an `EvaluationError` where all records are needed."""
    if sample.size == sample.records:
        return
    if fit == "per_split":
        raise EvaluationError(
            "fit: per_split must count equivalence classes in the whole table; got a sample of "
            f"{sample.size} of {sample.records} records, in which classes are smaller. Raise "
            f"quality.sample to at least {sample.records}"
            + (" or write fit: once." if may_fit_once else ".")
        )
    dbt_logger().info(
        f"{anonymization}: a sample of {sample.size} of {sample.records} records is evaluated, "
        f"drawn with random state {random_state}"
    )


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Splits of a problem, and what is counted in them; see `EvaluationRequest`."""

    splitting: Splitting
    random_state: int
    subjects: Mapping[str, Any] | None
    guarantees: Sequence[Mapping[str, Any]] = ()
    population_size: int | None = None
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
    """Read targets and efforts; the first effort is that of the reader.

    Returns the problem, and the arrays that all efforts share. ``watch`` already holds the seconds
    of earlier steps, by the position of the effort.
    """
    relation = reader.sample.restrict(reader.untouched.relation)
    readers = [target_reader(relation, column, place) for place, column in enumerate(targets)]
    extra = {name: sql for target in readers for name, sql in target.sql.items()}
    sensitive = sensitive_attributes(setting.guarantees)
    for attribute in sensitive:
        column_kind(relation, attribute)
    extra |= {f"sensitive {attribute}": rank_sql(attribute) for attribute in sensitive}
    watch = watch or Stopwatch()
    with watch.running("0"):
        untouched, values, first = reader.read_untouched(extra)
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
    further = []
    for place, effort in enumerate(efforts[1:], start=1):
        with watch.running(str(place)):
            further.append(reader.read_effort(effort, first))
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
        read_seconds=list(watch.take().values()),
    )
    return problem, first


def _train_and_report(problem: Problem, anonymization: str, log: Any) -> pd.DataFrame:
    for line in reading_lines(problem):
        log.info(f"{anonymization}: {line}")
    workers = worker_count()
    targets, efforts = len(problem.targets), len(problem.efforts)
    tasks = make_tasks(targets, problem.splitting.repetitions, efforts, workers)
    models_per_split = problem.fitted_models(efforts)
    total = targets * problem.splitting.splits * models_per_split
    progress = Progress(anonymization, total, log.info, first=models_per_split)
    outcomes: list[Outcome] = []
    tallies = Tallies()
    largest_shares: dict[int, float] = {}
    for result in run_tasks(problem, tasks, workers, progress):
        outcomes.extend(result.outcomes)
        tallies.merge(result.tallies)
        for effort, share in result.suppressed.items():
            largest_shares[effort] = max(share, largest_shares.get(effort, 0.0))
    outcomes.sort(key=lambda outcome: outcome.order)
    for effort, share in sorted(largest_shares.items()):
        log.info(
            f"{anonymization}: fit: per_split suppresses at most {share:.1%} of the training "
            f"records of effort {problem.efforts[effort].effort}"
        )
    for line in failure_lines(problem, outcomes):
        log.warning(f"{anonymization}: {line}")
    return evaluation_frame(problem, outcomes, tallies)


def make_models(
    declared: Sequence[Mapping[str, Any]], targets: Sequence[TargetColumn], reading: Reading
) -> list[Model]:
    """Return the declared models, and the zero rule, the baseline of relative measures.

    Each sees the feature space that suits its type. An estimator that cannot be made is refused
    before any data are read.
    """
    tasks = list(dict.fromkeys(target.task for target in targets))
    baseline = [{"name": ZERO_RULE, "model": ZERO_RULE}]
    has_baseline = any(model["name"] == ZERO_RULE for model in declared)
    models: list[Model] = []
    for model in [*declared, *([] if has_baseline else baseline)]:
        model_type, parameters = model["model"], dict(model.get("parameters") or {})
        for task in tasks:
            estimators.make_estimator(model_type, parameters, 0, task)
        # The zero rule looks at no feature: any space will do.
        space = (
            models[0].space
            if model_type == ZERO_RULE and models
            else reading.space(model_type, tasks[0])
        )
        models.append(Model(model["name"], model_type, parameters, space))
    return models
