"""The sampled records of a trial, which trains models on them or shows some, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.coded_table import CodedTable, leaves_of
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.search.predictions import FOLDS
from dbt_anonymize.extensions.search.records import Records, read_untouched, rows_of
from dbt_anonymize.hierarchies.model import IntervalHierarchy
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.engines import engine_of
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

if TYPE_CHECKING:
    import duckdb

# Most records of the table from which examples are chosen.
_MOST_EXAMPLES = 200
_TABLE = '"dbt_anonymize_trial"'


@dataclass(frozen=True)
class Examples:
    """Values of a few records, by column.

    Attributes
    ----------
    places : array of int
        Position of each record in the sample.
    values : dict
        Unchanged or masked values that are released beside the quasi-identifiers.
    raw : dict
        Values of the quasi-identifiers that are numbers or dates.
    """

    places: np.ndarray
    values: dict[str, list[Any]]
    raw: dict[str, list[Any]]


@dataclass(frozen=True)
class Drawn:
    """Records of a trial: their rows in the coded table, their leaves, and a few examples.

    Attributes
    ----------
    rows : array of int, shape (records,)
    leaves : array of int, shape (records, quasi-identifiers)
    """

    rows: np.ndarray
    leaves: np.ndarray
    examples: Examples


@dataclass(frozen=True)
class Sampled(Drawn):
    """Records of a trial that models are trained on."""

    records: Records


def read_sample(
    warehouse: Warehouse, relation: Any, spec: Spec, counted: CodedTable, session: Any
) -> Sampled:
    """Read at most ``quality.sample`` records of a relation into a DuckDB in memory.

    They have the smallest digests of record key, or subject, and random state.
    """
    quality = spec.tests
    used = {*spec.features, *spec.targets, *([quality.time] if quality.time else [])}
    drawn = _draw_records(
        warehouse, relation, spec, counted, session, used=used, limit=quality.sample
    )
    microdata = _microdata(session, spec, spec.person_column)
    trees = {plan.seed: _register_hierarchy(session, plan) for plan in counted.plans}
    problem, reader, first = read_untouched(spec, trees.__getitem__, microdata, FOLDS)
    records = Records(problem, drawn.rows, reader, first)
    return Sampled(drawn.rows, drawn.leaves, drawn.examples, records)


def read_examples(
    warehouse: Warehouse, relation: Any, spec: Spec, counted: CodedTable, session: Any
) -> Drawn:
    """Read example records alone, for a trial without models."""
    return _draw_records(
        warehouse, relation, spec, counted, session, used=set(), limit=_MOST_EXAMPLES
    )


def _draw_records(
    warehouse: Warehouse,
    relation: Any,
    spec: Spec,
    counted: CodedTable,
    session: Any,
    *,
    used: set[str],
    limit: int,
) -> Drawn:
    engine, person_column = engine_of(warehouse), spec.person_column
    text = warehouse.macro("_as_text", expression=quote_name(person_column))
    digest = engine.md5_by_bytes(f"{text} || {quote_text(str(spec.random_state))}")
    order = f" order by {digest}, {quote_name(spec.record_key)} limit "
    used = {spec.record_key, person_column, *used, *spec.quasi_identifiers}
    engine.copy_relation(*(warehouse, relation, session, _TABLE), rows=f"{order}{limit}", only=used)
    leaves = _leaves(session, spec, counted.plans)
    codes = [_codes(present, leaves[:, place]) for place, present in enumerate(counted.leaves)]
    rows = rows_of(counted.table, np.column_stack(codes))
    if missing := int((rows < 0).sum()):
        raise SearchError(
            f"{relation.identifier}: must stay as it is while it is tried; {missing} of "
            f"{len(rows)} sampled records were not counted. Try again."
        )
    keys = f"cast({quote_name(spec.record_key)} as text)"
    ordered = session.sql(f"select {keys} from {_TABLE} order by {quote_name(spec.record_key)}")  # noqa: S608
    place = {key: at for at, (key,) in enumerate(ordered.fetchall())}
    examples = _read_examples(warehouse, relation, spec, f"{order}{_MOST_EXAMPLES}", place)
    return Drawn(rows, leaves, examples)


def _microdata(session: Any, spec: Spec, by: str) -> duckdb.DuckDBPyRelation:
    subject = ""
    if spec.subject and by.lower() != "subject":
        subject = f", cast({quote_name(by)} as text) as subject"
    microdata: duckdb.DuckDBPyRelation = session.sql(f"select *{subject} from {_TABLE}")  # noqa: S608
    return microdata


def _register_hierarchy(session: Any, plan: Plan) -> duckdb.DuckDBPyRelation:
    """Create a hierarchy as a table in the form of its seed."""
    import pandas as pd  # noqa: PLC0415 (slow to import)

    table = plan.hierarchy.table()
    frame = pd.DataFrame([row.cells for row in table.rows], columns=[*table.columns], dtype=str)
    name = quote_name(plan.seed)
    types = dict.fromkeys(table.columns, "text")
    if isinstance(plan.hierarchy, IntervalHierarchy):
        kind = "double" if isinstance(plan.hierarchy.lower_bounds[0], Decimal) else "date"
        types |= {"lower_bound": kind, "upper_bound": kind}
    columns = ", ".join(f"cast({column} as {kind}) as {column}" for column, kind in types.items())
    session.register("dbt_anonymize_tree", frame)
    session.execute(f"create table {name} as select {columns} from dbt_anonymize_tree")  # noqa: S608
    session.unregister("dbt_anonymize_tree")
    relation: duckdb.DuckDBPyRelation = session.table(name)
    return relation


def _leaves(session: Any, spec: Spec, plans: Sequence[Plan]) -> np.ndarray:
    """Return the leaf of each quasi-identifier of each record, in the order of the record key."""
    columns = [
        quote_name(plan.column)
        if plan.kind == "interval"
        else f"cast({quote_name(plan.column)} as text)"
        for plan in plans
    ]
    key = quote_name(spec.record_key)
    rows = session.sql(f"select {', '.join(columns)} from {_TABLE} order by {key}").fetchall()  # noqa: S608
    values = zip(*rows, strict=True) if rows else [()] * len(plans)
    return np.column_stack(
        [leaves_of(plan, column_values) for plan, column_values in zip(plans, values, strict=True)]
    )


def _codes(present: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Return the codes of leaves; -1 for leaves that were not counted."""
    places = np.minimum(np.searchsorted(present, leaves), len(present) - 1)
    return np.where(present[places] == leaves, places, -1)


def _read_examples(
    warehouse: Warehouse, relation: Any, spec: Spec, order: str, place: dict[str, int]
) -> Examples:
    """Read the released values of a few records, and those that an effort may leave as they are."""
    described = {
        described_column.name: described_column
        for described_column in warehouse.adapter.get_columns_in_relation(relation)
    }
    columns = [
        name
        for name, column in spec.columns.items()
        if column.role in {"sensitive", "insensitive", "masked"}
    ]
    numbers = [name for name, tree in spec.quasi_identifiers.items() if tree.kind == "interval"]
    parts = []
    for name in columns:
        mask, sql = spec.columns[name].mask, quote_name(name)
        if mask is not None and mask.has_key:
            sql = "'(masked)'"
        elif mask is not None:
            column = described.get(name)
            sql = str(warehouse.macro("_mask", column=column, value=sql, mask=mask.parts))
        parts.append(sql)
    key = warehouse.macro("_as_text", expression=quote_name(spec.record_key))
    parts += map(quote_name, numbers)
    rows = warehouse.rows(f"select {', '.join([key, *parts])} from {relation}{order}")  # noqa: S608
    rows = [row for row in rows if row[0] in place]
    places = np.array([place[row[0]] for row in rows], dtype=np.int64)
    read = {
        name: [row[at] for row in rows] for at, name in enumerate([*columns, *numbers], start=1)
    }
    released, raw = ({name: read[name] for name in names} for names in (columns, numbers))
    return Examples(places, released, raw)
