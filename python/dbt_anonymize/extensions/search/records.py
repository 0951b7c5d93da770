"""The records of a source for models, each with its row in the coded table."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.evaluation.data.features import Reading
from dbt_anonymize.evaluation.data.hierarchy import ROOT
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn, FirstArrays
from dbt_anonymize.evaluation.data.relations import (
    column_kind,
    number_sql,
    ranked_texts,
    read_arrays,
    text_rank_sql,
    text_sql,
)
from dbt_anonymize.evaluation.data.sampling import draw_sample, inner_sql
from dbt_anonymize.evaluation.data.targets import TargetColumn
from dbt_anonymize.evaluation.problem import ZERO_RULE, Problem
from dbt_anonymize.evaluation.run import Setting, make_models, read_problem
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.extensions.search.load import Loaded
from dbt_anonymize.extensions.search.source import rebuild
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.privacy.grouping import distinct_codes
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.project.engines import Drawn, engine_of
from dbt_anonymize.project.rows import draw, feature_columns
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

if TYPE_CHECKING:
    import duckdb

_DAY_ONE = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Records:
    """Records that models learn from.

    Attributes
    ----------
    problem : Problem
        The untouched records, targets and models of the spec, without the zero rule.
    rows : array of int, shape (records,)
        A row of the table with the quasi-identifiers of each record.
    reader, first : EffortReader and FirstArrays
        Inputs of `generalized_effort`; the relations of the reader may be closed.
    """

    problem: Problem
    rows: Ints
    reader: EffortReader
    first: FirstArrays


def read_records(warehouse: Warehouse, spec: Spec, loaded: Loaded, splitting: Splitting) -> Records:
    """Read the records that a search trains models on, which are those of the evaluation.

    They are at most ``quality.sample`` records, and no outer ones. Records that models cannot learn
    from are an `EvaluationError`; records that the table lacks, a `SearchError`.
    """
    name = f"{spec.name}_microdata"
    engine = engine_of(warehouse)
    record_keys = Drawn(spec.record_key)
    if not engine.READS_IN_PLACE:
        record_keys = draw(warehouse, spec, name)
    with engine.open_reader(warehouse) as reader:

        def relation(of: str) -> duckdb.DuckDBPyRelation:
            return reader.relation(of, record_keys)

        microdata = relation(name)
        if spec.sample:
            microdata = microdata.filter(f"sample_share <= {spec.sample.share}")
        is_inner = inner_sql(microdata, spec.record_key) if spec.outer_share else None
        problem, effort_reader, first = read_untouched(
            spec, relation, microdata, splitting, is_inner
        )
        rows = _known_rows(
            warehouse, spec, loaded, effort_reader.sample.restrict(microdata), spec.record_key
        )
    return Records(problem, rows, effort_reader, first)


def rows_by_key(warehouse: Warehouse, spec: Spec, loaded: Loaded) -> Ints:
    """Return the row of the table of each record, in the order of the bytes of its key as text."""
    with engine_of(warehouse).open_reader(warehouse) as reader:
        microdata = reader.relation(f"{spec.name}_microdata", Drawn(spec.record_key))
        key = f"encode(cast({quote_name(spec.record_key)} as varchar))"
        placed = microdata.project(f"*, row_number() over (order by {key}) as place_of_record")
        return _known_rows(warehouse, spec, loaded, placed, "place_of_record")


def _known_rows(
    warehouse: Warehouse,
    spec: Spec,
    loaded: Loaded,
    records: duckdb.DuckDBPyRelation,
    order_by: str,
) -> Ints:
    """Return the row of each record; a `SearchError` if the table lacks one."""
    rows = rows_of(loaded.table, _quasi_identifier_codes(warehouse, loaded, records, order_by))
    if missing := int((rows < 0).sum()):
        raise SearchError(
            f"{spec.name}: the frequencies must hold every record of {spec.name}_microdata; "
            f"{missing} of {len(rows)} are missing in them. {rebuild(spec)}"
        )
    return rows


def read_untouched(
    spec: Spec,
    relation: Callable[[str], duckdb.DuckDBPyRelation],
    microdata: duckdb.DuckDBPyRelation,
    splitting: Splitting,
    condition: str | None = None,
) -> tuple[Problem, EffortReader, FirstArrays]:
    """Read the problem of a spec with its untouched effort alone.

    ``relation`` returns hierarchies by name; ``condition`` is SQL that selects the records to read.
    """
    quality = spec.tests
    features = feature_columns(spec, relation)
    targets = [
        TargetColumn(name, quality.task, positive=positive, time=quality.time)
        for name, positive in spec.targets.items()
    ]
    reading = Reading(numbers=quality.numbers, categories=quality.categories)
    declared_models = [
        {"name": name, "model": str(choice.model), "parameters": choice.parameters}
        for name, choice in quality.chosen_models.items()
    ]
    models = [
        model
        for model in make_models(declared_models, targets, reading)
        if model.model != ZERO_RULE
    ]
    key, state = spec.record_key, quality.random_state
    effort = Effort(0, _untouched(microdata, features), {})
    sample = draw_sample(microdata, key, quality.sample, state, condition)
    reader = EffortReader(effort, features, reading, sample, key)
    subjects = {"relation": microdata, "column": "subject"} if spec.subject else None
    setting = Setting(splitting=splitting, random_state=state, subjects=subjects)
    problem, first = read_problem(reader, [effort], targets, models, setting)
    return problem, reader, first


def _untouched(
    microdata: duckdb.DuckDBPyRelation, features: Sequence[FeatureColumn]
) -> duckdb.DuckDBPyRelation:
    """Return the microdata with the columns of effort 0."""
    labels = {
        feature.name.lower(): f"coalesce({text_sql(feature.name)}, {quote_text(ROOT)})"
        for feature in features
        if feature.hierarchy is not None
    }
    label_columns = [
        f"{labels.get(name.lower(), quote_name(name))} as {quote_name(name)}"
        for name in microdata.columns
    ]
    bounds = [
        f"{quote_name(feature.name)} as {quote_name(f'{feature.name}_{bound}')}"
        for feature in features
        if feature.kind == "interval"
        for bound in ("lower", "upper")
    ]
    return microdata.project(", ".join([*label_columns, *bounds, "false as is_suppressed"]))


def _quasi_identifier_codes(
    warehouse: Warehouse, loaded: Loaded, records: duckdb.DuckDBPyRelation, record_key: str
) -> Ints:
    """Return the codes (records, attributes) of quasi-identifiers, by the record key."""
    columns = [
        coding.name if coding.by == "raw" else f"{coding.name}_leaf" for coding in loaded.codings
    ]
    read = {
        column: number_sql(column, column_kind(records, column))
        if coding.is_interval
        else text_rank_sql(column)
        for coding, column in zip(loaded.codings, columns, strict=True)
    }
    arrays = read_arrays(records, read, order_by=record_key)
    codes = []
    for coding, column in zip(loaded.codings, columns, strict=True):
        values = loaded.coded_values(warehouse, coding)
        if coding.is_interval:
            places = _positions_among([_number(value) for value in values], arrays[column])
        else:
            places_of_texts = _positions_of_texts(values, ranked_texts(records, column))
            places = places_of_texts[arrays[column].astype(np.int64)]
        # -1 for values that the table lacks.
        codes.append(np.where(places < 0, -1, coding.present[places]))
    return np.column_stack(codes)


def _positions_of_texts(values: Sequence[Any], texts: Sequence[str | None]) -> Ints:
    """Return the position of each text among values; NULL comes after all; -1 for others."""
    places: dict[str | None, int] = {str(text): code for code, text in enumerate(values)}
    places[None] = len(values)
    return np.array([places.get(text, -1) for text in texts], dtype=np.int64)


def _number(value: Any) -> float:
    """Return a number as `number_sql` does: a date is days since 1970-01-01."""
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - _DAY_ONE) / datetime.timedelta(days=1)
    if isinstance(value, datetime.date):
        return float((value - _DAY_ONE.date()).days)
    return float(value)


def _positions_among(values: Sequence[float], numbers: NDArray[Any]) -> Ints:
    """Return the position of each number among ascending values; -1 for others.

    NaN comes after all values. Equal numbers may differ in their last bits.
    """
    ends = np.array(values, dtype=np.float64)
    if not len(ends):
        return np.where(np.isnan(numbers), 0, -1).astype(np.int64)
    nearest = np.searchsorted((ends[1:] + ends[:-1]) / 2, numbers)
    is_known = np.isclose(ends[np.minimum(nearest, len(ends) - 1)], numbers, rtol=1e-12, atol=0.0)
    places = np.where(np.isnan(numbers), len(ends), np.where(is_known, nearest, -1))
    return np.asarray(places, dtype=np.int64)


def rows_of(table: Table, codes: Ints) -> Ints:
    """Return the first row of the table with the leaves of each record; -1 without any."""
    leaves = np.concatenate([table.leaves, codes])
    groups = distinct_codes(leaves.T, len(leaves))
    rows = len(table.leaves)
    first = np.full(int(groups.max(initial=-1)) + 1, rows, dtype=np.int64)
    np.minimum.at(first, groups[:rows], np.arange(rows))
    first_rows = first[groups[rows:]]
    return np.where(first_rows == rows, -1, first_rows)
