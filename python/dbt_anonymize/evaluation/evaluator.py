"""The body of the Python model ``<anonymization>_scores``: relations in, scores out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators, splits
from dbt_anonymize.evaluation.features import (
    Encoding,
    categorical_encoding,
    interval_encoding,
    make_design,
    plain_encoding,
    recoded_encoding,
)
from dbt_anonymize.evaluation.measures import MEASURES, NEEDS_POSITIVE
from dbt_anonymize.evaluation.progress import Progress, dbt_logger
from dbt_anonymize.evaluation.relations import (
    code_sql,
    column_kind,
    is_empty,
    read_arrays,
    read_texts,
)
from dbt_anonymize.evaluation.scoring import Problem, Score
from dbt_anonymize.evaluation.workers import make_tasks, run_tasks, worker_count

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

COLUMN_TYPES = {
    "effort": "int64",
    "model": "str",
    "repetition": "int64",
    "test_on": "str",
    "measure": "str",
    "value": "float64",
}

# What an effort has for levels where they differ per record.
PER_RECORD = "per record"


@dataclass(frozen=True)
class Feature:
    """A column that the model reads; ``hierarchy`` only for a categorical quasi-identifier."""

    name: str
    kind: str
    hierarchy: duckdb.DuckDBPyRelation | None = None


@dataclass(frozen=True)
class Effort:
    """A generalized relation.

    ``levels`` are those of categorical quasi-identifiers, or `PER_RECORD` where each record has its
    own, in the columns ``<quasi-identifier>_level`` of the relation.
    """

    effort: int
    relation: duckdb.DuckDBPyRelation
    levels: Mapping[str, int] | str


def evaluate(
    session: duckdb.DuckDBPyConnection,
    *,
    anonymization: str,
    efforts: Sequence[Mapping[str, Any]],
    record_key: str,
    target: str,
    features: Sequence[Mapping[str, Any]],
    model: str,
    parameters: Mapping[str, Any],
    measure: str,
    positive: object | None,
    repetitions: int,
    test_share: float,
    random_state: int,
) -> pd.DataFrame:
    """Train models on every effort and score them on the untouched test records.

    Parameters
    ----------
    session : duckdb.DuckDBPyConnection
        The connection of the dbt Python model; the relations below belong to it.
    anonymization : str
        Name of the spec, for the log.
    efforts : sequence of mapping
        ``effort`` (number; the first is 0, the untouched table), ``relation`` and ``levels``
        (of categorical quasi-identifiers; or the text "per record": in columns of the relation).
        All hold the same record keys. A test record is generalized like its own record is.
    record_key : str
        Unique column; gives the order in which records are drawn.
    target : str
        Column to predict; its values are classes, compared as text.
    features : sequence of mapping
        ``name``, ``kind`` (interval, categorical or plain), and ``hierarchy`` if categorical.
    model, parameters : str, mapping
        See ``estimators``.
    measure : str
        See ``measures``.
    positive : object or None
        The positive class of precision, recall and f1.
    repetitions : int
        Number of random splits, >= 1.
    test_share : float
        Share of records that test.
    random_state : int
        Decides all splits and models, >= 0.

    Returns
    -------
    pandas.DataFrame
        One row per effort, repetition and kind of test records, with the columns of
        ``COLUMN_TYPES``. A model that cannot be trained has no value, and the log says why.
        No rows if the source has none.

    Raises
    ------
    EvaluationError
        If the relations or the choices do not allow an evaluation.
    """
    log = dbt_logger()
    chosen = [Effort(e["effort"], e["relation"], e["levels"]) for e in efforts]
    columns = [Feature(f["name"], f["kind"], f.get("hierarchy")) for f in features]
    _check_choices(
        model,
        parameters,
        measure=measure,
        positive=positive,
        repetitions=repetitions,
        random_state=random_state,
    )
    _check_efforts(chosen, columns)
    problem = _read_problem(
        chosen,
        columns,
        record_key=record_key,
        target=target,
        model=model,
        parameters=parameters,
        measure=measure,
        positive=positive,
        test_share=test_share,
        random_state=random_state,
    )
    if problem is None:
        log.info(f"{anonymization}: no records, so no models are trained")
        return _frame([], chosen, model, measure)
    workers = worker_count()
    tasks = make_tasks(repetitions, len(chosen), workers)
    progress = Progress(anonymization, repetitions * len(chosen), log.info)
    scores = run_tasks(problem, tasks, workers, progress)
    for line in _failures(scores, chosen, repetitions):
        log.warning(f"{anonymization}: {line}")
    return _frame(scores, chosen, model, measure)


def _check_choices(
    model: str,
    parameters: Mapping[str, Any],
    *,
    measure: str,
    positive: object | None,
    repetitions: int,
    random_state: int,
) -> None:
    estimators.make_estimator(model, parameters, random_state=0)
    if measure not in MEASURES:
        raise EvaluationError(
            f"quality.measure must be one of {sorted(MEASURES)}; got {measure!r}. Name one of them."
        )
    if measure in NEEDS_POSITIVE and positive is None:
        raise EvaluationError(
            f"quality.positive must name the positive class for {measure}; got none. Add it."
        )
    if repetitions < 1 or random_state < 0:
        raise EvaluationError(
            "quality.repetitions must be >= 1 and quality.random_state >= 0; got "
            f"{repetitions} and {random_state}. Correct them."
        )


def _check_efforts(efforts: Sequence[Effort], features: Sequence[Feature]) -> None:
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
    if not features:
        raise EvaluationError("features must name at least one column; got none. Add one.")


def _read_problem(
    efforts: Sequence[Effort],
    features: Sequence[Feature],
    *,
    record_key: str,
    target: str,
    model: str,
    parameters: Mapping[str, Any],
    measure: str,
    positive: object | None,
    test_share: float,
    random_state: int,
) -> Problem | None:
    """Read all relations, each once; None if there are no records."""
    untouched = efforts[0].relation
    if is_empty(untouched):
        return None
    column_kind(untouched, target)
    classes = [row[0] for row in read_texts(untouched, [target]) if row[0] is not None]
    plain = {f.name: plain_encoding(untouched, f.name) for f in features if f.kind == "plain"}
    extra = {"target": code_sql(target, classes)}
    encodings = [_encodings(effort, features, plain) for effort in efforts]
    values = _read(efforts[0], encodings[0], record_key, extra)
    keys = values["record_hash"]
    _check_keys(keys, record_key)
    codes = values["target"].astype(np.int64)
    splits.check_target(codes, len(classes), test_share, target)
    kept = {name: values[f"feature {name}"] for name in plain}
    designs, suppressed = [], []
    for position, effort in enumerate(efforts):
        if position:
            generalized = [e for e in encodings[position] if e.feature not in plain]
            values = _read(effort, generalized, record_key, {})
            _check_same_keys(keys, values["record_hash"], effort.effort)
        columns = {**{f"feature {name}": array for name, array in kept.items()}, **values}
        arrays = [columns[f"feature {encoding.feature}"] for encoding in encodings[position]]
        designs.append(make_design(encodings[position], arrays))
        suppressed.append(values["is_suppressed"].astype(bool))
    return Problem(
        target=codes,
        classes=len(classes),
        positive=_positive_code(positive, classes, target),
        designs=designs,
        suppressed=suppressed,
        model=model,
        parameters=dict(parameters),
        measure=measure,
        test_share=test_share,
        random_state=random_state,
    )


def _encodings(
    effort: Effort, features: Sequence[Feature], plain: Mapping[str, Encoding]
) -> list[Encoding]:
    """Return how to read each feature of an effort, in the order of the features."""
    found = []
    for feature in features:
        if feature.kind == "plain":
            found.append(plain[feature.name])
        elif feature.kind == "interval":
            found.append(interval_encoding(effort.relation, feature.name))
        elif feature.kind == "categorical" and feature.hierarchy is not None:
            found.append(_categorical(effort, feature.name, feature.hierarchy))
        else:
            raise EvaluationError(
                f"feature `{feature.name}` must be interval, plain, or categorical with a "
                f"hierarchy; got kind {feature.kind!r}. Run `dbt-anonymize generate` again."
            )
    return found


def _categorical(effort: Effort, name: str, hierarchy: duckdb.DuckDBPyRelation) -> Encoding:
    if isinstance(effort.levels, str):
        return recoded_encoding(effort.relation, name, hierarchy)
    return categorical_encoding(effort.relation, name, hierarchy, effort.levels.get(name, 0))


def _read(
    effort: Effort, encodings: Sequence[Encoding], record_key: str, extra: Mapping[str, str]
) -> dict[str, NDArray[Any]]:
    column_kind(effort.relation, "is_suppressed")
    expressions = {f"feature {encoding.feature}": encoding.sql for encoding in encodings}
    expressions["is_suppressed"] = "cast(coalesce(is_suppressed, true) as bigint)"
    return read_arrays(effort.relation, {**expressions, **extra}, order_by=record_key)


def _check_keys(keys: NDArray[Any], record_key: str) -> None:
    repeated = int((keys[1:] == keys[:-1]).sum())
    if repeated:
        raise EvaluationError(
            f"record key `{record_key}` must be unique; got {repeated} repeated values in "
            f"{len(keys)} records. Name another column or remove the duplicates."
        )


def _check_same_keys(expected: NDArray[Any], found: NDArray[Any], effort: int) -> None:
    if not np.array_equal(expected, found):
        raise EvaluationError(
            f"effort {effort} must hold the same record keys as effort 0; got {len(found)} and "
            f"{len(expected)} records whose keys differ. Build all efforts in one run."
        )


def _positive_code(positive: object | None, classes: Sequence[str], target: str) -> int | None:
    if positive is None:
        return None
    text = str(positive).lower() if isinstance(positive, bool) else str(positive)
    if text not in classes:
        raise EvaluationError(
            f"quality.positive must be one of the {len(classes)} values of target `{target}`; "
            f"got {text!r}, which does not occur. Write it as the database shows it."
        )
    return list(classes).index(text)


def _failures(scores: Sequence[Score], efforts: Sequence[Effort], repetitions: int) -> list[str]:
    """Return a line per effort and reason why models have no score."""
    counts = Counter((score.effort, score.reason) for score in scores if score.reason)
    return [
        f"effort {efforts[position].effort}: {count} of {repetitions} models have no score: "
        f"{reason}"
        for (position, reason), count in counts.items()
    ]


def _frame(
    scores: Sequence[Score], efforts: Sequence[Effort], model: str, measure: str
) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    rows = [
        (efforts[score.effort].effort, model, score.repetition, test_on, measure, value)
        for score in scores
        for test_on, value in (("original", score.original), ("generalized", score.generalized))
    ]
    return pd.DataFrame(rows, columns=list(COLUMN_TYPES)).astype(COLUMN_TYPES)
