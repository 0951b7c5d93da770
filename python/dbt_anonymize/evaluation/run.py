"""The body of the Python model ``<anonymization>_evaluation``: relations in, measures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.reading import PER_RECORD, Effort, EffortReader, FeatureColumn
from dbt_anonymize.evaluation.data.relations import column_kind, is_empty
from dbt_anonymize.evaluation.data.sampling import Sample, draw_sample
from dbt_anonymize.evaluation.data.subjects import (
    make_recount,
    rank_sql,
    read_subjects,
    sensitive_attributes,
)
from dbt_anonymize.evaluation.data.targets import TargetColumn, target_columns, target_reader
from dbt_anonymize.evaluation.outputs import evaluation_frame, failure_lines, reading_lines
from dbt_anonymize.evaluation.problem import ZERO_RULE, Model, Problem
from dbt_anonymize.evaluation.progress import Progress, dbt_logger
from dbt_anonymize.evaluation.scoring import Outcome
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.suppression import check_recountable
from dbt_anonymize.evaluation.tallies import Tallies
from dbt_anonymize.evaluation.workers import make_tasks, run_tasks, worker_count

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

SUPPRESSED = ("left_out", "missing")
FITS = ("once", "per_split")


def evaluate(
    session: duckdb.DuckDBPyConnection,
    *,
    anonymization: str,
    efforts: Sequence[Mapping[str, Any]],
    record_key: str,
    features: Sequence[Mapping[str, Any]],
    targets: Sequence[Mapping[str, Any]],
    models: Sequence[Mapping[str, Any]],
    splitting: Mapping[str, Any],
    random_state: int,
    reading: Mapping[str, str],
    suppressed: str,
    fit: str,
    sample: int,
    subjects: Mapping[str, Any] | None = None,
    guarantees: Sequence[Mapping[str, Any]] | None = None,
    population_size: int | None = None,
) -> pd.DataFrame:
    """Train models on every effort and score them on records that they have never seen.

    Parameters
    ----------
    session : duckdb.DuckDBPyConnection
        The connection of the dbt Python model; the relations below belong to it.
    anonymization : str
        Name of the spec, for the log.
    efforts : sequence of mapping
        ``effort`` (number; the first is 0, the untouched table), ``relation``, ``levels`` (of
        quasi-identifiers; or the text "per record": in columns of the relation) and, where an
        effort requires more than the guarantees, ``k``. All hold the same record keys.
    record_key : str
        Unique column; gives the order in which records are drawn.
    features : sequence of mapping
        ``name``, ``kind`` (interval, categorical or plain), and ``hierarchy`` unless plain.
    targets : sequence of mapping
        ``name``, ``task`` (classification, regression, survival), ``positive`` (positive class, or
        what means an event) and ``time`` (of a survival target). Classes are compared as text.
    models : sequence of mapping
        ``name``, ``model`` and ``parameters``, see ``estimators``. The zero rule is added.
    splitting : mapping
        ``repetitions`` and either ``test_share`` or ``folds``.
    random_state : int
        Decides the sample, all splits and all models, >= 0.
    reading : mapping
        ``numbers`` and ``categories``: how generalized values enter a model, see ``features``.
    suppressed : str
        left_out: suppressed records do not train. missing: they do, without quasi-identifiers.
    fit : str
        once: the anonymization of all records. per_split: beside it models for which suppression
        and what values stand for are counted on the training records alone, all of them in the
        sample. All training records that violate a guarantee are suppressed then, also more than
        the suppression limit; the largest share is logged.
    sample : int
        Largest number of records that are evaluated; of more, a seeded sample is drawn.
    subjects : mapping, optional
        ``relation`` and ``column``: whose record it is. Nobody then both trains and tests.
    guarantees : sequence of mapping, optional
        As the spec resolves them; needed for per_split.
    population_size : int, optional
        Of the population, for guarantees that estimate it.

    Returns
    -------
    pandas.DataFrame
        One row per fact, with the columns of ``outputs.COLUMN_TYPES``. By ``kind``:

        ``measure``
            ``name``: measure; ``other``: class that it is about, or NULL; ``value``; one row per
            split (``repetition``, ``fold``; 1 for hold-out).
        ``confusion``
            ``name``: true class; ``other``: predicted class; ``value``: test records of all splits.
        ``probability``
            ``name``: class; ``other``: "1" for records of it, else "0"; ``bin``: its predicted
            probability in thousandths; ``value``: test records of all splits.
        ``failure``
            ``name``: why a model could not be trained in this split; ``value``: NULL.
        ``reading``
            ``name``: a category with too many labels; ``other``: its level in this effort;
            ``value``: the level at which models read it.

        No rows if the source has none.

    Raises
    ------
    EvaluationError
        If the relations or the choices do not allow an evaluation.
    """
    log = dbt_logger()
    chosen = [Effort(e["effort"], e["relation"], e["levels"], e.get("k")) for e in efforts]
    columns = [FeatureColumn(f["name"], f["kind"], f.get("hierarchy")) for f in features]
    wanted = target_columns(targets, [feature.name for feature in columns])
    splits = _splitting(splitting, random_state)
    read_as = Reading(**reading)
    trained = _with_spaces(_with_zero_rule(models), wanted, read_as)
    _check_settings(suppressed, fit)
    _check_efforts(chosen, columns, fit)
    if fit == "per_split":
        check_recountable(guarantees)
    untouched = chosen[0].relation
    if is_empty(untouched):
        log.info(f"{anonymization}: no records, so no models are trained")
        return evaluation_frame(None, [], Tallies())
    drawn = draw_sample(untouched, record_key, sample, random_state)
    if drawn.condition is not None:
        _check_whole(fit, drawn)
        log.info(
            f"{anonymization}: a sample of {drawn.size} of {drawn.records} records is evaluated, "
            f"drawn with random state {random_state}"
        )
    reader = EffortReader(
        chosen[0],
        columns,
        read_as,
        drawn,
        record_key,
        may_be_hidden=suppressed == "missing",
        has_recount=fit == "per_split",
    )
    problem = _read_problem(
        reader,
        chosen,
        wanted,
        trained,
        splitting=splits,
        random_state=random_state,
        subjects=subjects,
        guarantees=guarantees if fit == "per_split" else None,
        population_size=population_size,
    )
    return _run(problem, anonymization, log)


def _read_problem(
    reader: EffortReader,
    efforts: Sequence[Effort],
    targets: Sequence[TargetColumn],
    models: Sequence[Model],
    *,
    splitting: Splitting,
    random_state: int,
    subjects: Mapping[str, Any] | None,
    guarantees: Sequence[Mapping[str, Any]] | None,
    population_size: int | None,
) -> Problem:
    """Read all relations, each once."""
    relation = reader.sample.of(reader.untouched.relation)
    readers = [target_reader(relation, column, place) for place, column in enumerate(targets)]
    extra = {name: sql for target in readers for name, sql in target.sql.items()}
    sensitive = sensitive_attributes(guarantees or ())
    for attribute in sensitive:
        column_kind(relation, attribute)
    extra |= {f"sensitive {attribute}": rank_sql(attribute) for attribute in sensitive}
    untouched, values, first = reader.first(extra)
    groups = None
    if subjects is not None:
        groups = read_subjects(subjects["relation"], subjects["column"], reader, first.keys)
    recount = None
    if guarantees is not None:
        recount = make_recount(
            reader,
            guarantees,
            values,
            subjects=groups,
            population_size=population_size,
        )
    return Problem(
        targets=[target.target(values, splitting, groups) for target in readers],
        models=models,
        efforts=[untouched, *(reader.further(effort, first) for effort in efforts[1:])],
        splitting=splitting,
        random_state=random_state,
        keeps_suppressed=reader.may_be_hidden,
        groups=groups,
        recount=recount,
    )


def _run(problem: Problem, anonymization: str, log: Any) -> pd.DataFrame:
    """Do everything, and say how far it is."""
    for line in reading_lines(problem):
        log.info(f"{anonymization}: {line}")
    workers = worker_count()
    targets, efforts = len(problem.targets), len(problem.efforts)
    tasks = make_tasks(targets, problem.splitting.repetitions, efforts, workers)
    of_a_split = problem.fitted_models(efforts)
    total = targets * problem.splitting.splits * of_a_split
    progress = Progress(anonymization, total, log.info, first=of_a_split)
    classes = {place: len(target.classes) for place, target in enumerate(problem.targets)}
    outcomes: list[Outcome] = []
    tallies = Tallies()
    largest: dict[int, float] = {}
    for result in run_tasks(problem, tasks, workers, progress):
        outcomes.extend(result.outcomes)
        tallies.merge(result.tallies, classes)
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


def _with_zero_rule(models: Sequence[Mapping[str, Any]]) -> list[Model]:
    """Return the models, with the baseline that relative measures need."""
    found = [Model(m["name"], m["model"], dict(m.get("parameters") or {})) for m in models]
    names = [model.name for model in found]
    if not found or len(set(names)) < len(names):
        raise EvaluationError(
            f"models must have one or more different names; got {names}. Correct quality.models."
        )
    if ZERO_RULE not in names:
        found.append(Model(ZERO_RULE, ZERO_RULE, {}))
    elif any(model.name == ZERO_RULE and model.model != ZERO_RULE for model in found):
        raise EvaluationError(
            f"the name {ZERO_RULE} must be that of the baseline; got another model of this name. "
            "Rename it in quality.models."
        )
    return found


def _splitting(declared: Mapping[str, Any], random_state: int) -> Splitting:
    if random_state < 0:
        raise EvaluationError(f"quality.random_state must be >= 0; got {random_state}. Correct it.")
    return Splitting(**declared)


def _with_spaces(
    models: Sequence[Model], targets: Sequence[TargetColumn], reading: Reading
) -> list[Model]:
    """Return the models with the features that each of them sees, by whether it splits them."""
    tasks = list(dict.fromkeys(target.task for target in targets))
    found: list[Model] = []
    for model in models:
        for task in tasks:
            estimators.make_estimator(model.model, model.parameters, 0, task)
        splits = any(estimators.estimator_type(model.model, task).splits for task in tasks)
        if splits and reading.categories != "label":
            raise EvaluationError(
                f"quality.categories: {reading.categories} must not be used with {model.name}: a "
                "model that splits takes one of the leaves that a label covers and misreads the "
                "others. Write categories: label, or name another model."
            )
        # The zero rule looks at no feature, and so takes what is there.
        is_baseline = model.model == ZERO_RULE and found
        space = found[0].space if is_baseline else reading.space(splits=splits)
        found.append(replace(model, space=space))
    return found


def _check_settings(suppressed: str, fit: str) -> None:
    for name, value, valid in (("suppressed", suppressed, SUPPRESSED), ("fit", fit, FITS)):
        if value not in valid:
            raise EvaluationError(
                f"quality.{name} must be one of {list(valid)}; got {value!r}. Name one of them."
            )


def _check_whole(fit: str, drawn: Sample) -> None:
    if fit == "per_split":
        raise EvaluationError(
            "fit: per_split must count equivalence classes in the whole table; got a sample of "
            f"{drawn.size} of {drawn.records} records, in which classes are smaller. Raise "
            f"quality.sample to at least {drawn.records} or write fit: once."
        )


def _check_efforts(efforts: Sequence[Effort], features: Sequence[FeatureColumn], fit: str) -> None:
    if not efforts or efforts[0].effort != 0:
        raise EvaluationError(
            "efforts must begin with effort 0, the untouched table, since its records are what "
            f"models are tested on; got {[effort.effort for effort in efforts]}. Put it first."
        )
    for effort in efforts:
        if isinstance(effort.levels, str) and effort.levels != PER_RECORD:
            raise EvaluationError(
                f"levels of effort {effort.effort} must be a mapping or the text {PER_RECORD!r}; "
                f"got {effort.levels!r}. Run `dbt-anonymize generate` again."
            )
        if effort.is_recoded and fit == "per_split":
            raise EvaluationError(
                f"fit: per_split needs efforts with levels, which training records alone can be "
                f"generalized to; got a recoding in effort {effort.effort}. Use fit: once."
            )
    if not features:
        raise EvaluationError("features must name at least one column; got none. Add one.")
