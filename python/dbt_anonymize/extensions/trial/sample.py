"""The sampled records of a trial, which trains models on them or shows some, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.counted import Counted, leaf_of
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

# At most so many records of the table are shown as they would be released.
_LOOKED_AT = 200
_TABLE = '"dbt_anonymize_trial"'


@dataclass(frozen=True)
class Shown:
    """Values of a few records that are released as they are or masked, by column.

    Attributes
    ----------
    places : array of int
        Place of each of the records among those that were sampled.
    """

    places: np.ndarray
    values: dict[str, list[Any]]


@dataclass(frozen=True)
class Drawn:
    """Records of a trial: row in the counted table and leaves of each, and a few to show.

    Attributes
    ----------
    rows : array of int, shape (records,)
    leaves : array of int, shape (records, quasi-identifiers)
    """

    rows: np.ndarray
    leaves: np.ndarray
    shown: Shown


@dataclass(frozen=True)
class Sampled(Drawn):
    """Records of a trial that models are trained on."""

    records: Records


def read_sample(
    warehouse: Warehouse, relation: Any, spec: Spec, counted: Counted, session: Any
) -> Sampled:
    """Read at most ``quality.sample`` records of a relation into a DuckDB in memory.

    Those with the smallest digest of record key, or subject, and random state.
    """
    quality = spec.tests
    used = {*spec.features, *spec.targets, *([quality.time] if quality.time else [])}
    drawn = _drawn(warehouse, relation, spec, counted, session, used=used, most=quality.sample)
    microdata = _microdata(session, spec, spec.person_column)
    trees = {one.seed: _tree(session, one) for one in counted.plans}
    problem, reader, first = read_untouched(spec, trees.__getitem__, microdata, FOLDS)
    records = Records(problem, drawn.rows, reader, first)
    return Sampled(drawn.rows, drawn.leaves, drawn.shown, records)


def read_few(
    warehouse: Warehouse, relation: Any, spec: Spec, counted: Counted, session: Any
) -> Drawn:
    """Read the records that can be shown, where no model is trained."""
    return _drawn(warehouse, relation, spec, counted, session, used=set(), most=_LOOKED_AT)


def _drawn(
    warehouse: Warehouse,
    relation: Any,
    spec: Spec,
    counted: Counted,
    session: Any,
    *,
    used: set[str],
    most: int,
) -> Drawn:
    engine, by = engine_of(warehouse), spec.person_column
    text = warehouse.macro("_as_text", expression=quote_name(by))
    digest = engine.md5_by_bytes(f"{text} || {quote_text(str(spec.random_state))}")
    order = f" order by {digest}, {quote_name(spec.record_key)} limit "
    used = {spec.record_key, by, *used, *spec.quasi_identifiers}
    engine.copy_relation(*(warehouse, relation, session, _TABLE), rows=f"{order}{most}", only=used)
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
    shown = _shown(warehouse, relation, spec, f"{order}{_LOOKED_AT}", place)
    return Drawn(rows, leaves, shown)


def _microdata(session: Any, spec: Spec, by: str) -> duckdb.DuckDBPyRelation:
    subject = ""
    if spec.subject and by.lower() != "subject":
        subject = f", cast({quote_name(by)} as text) as subject"
    found: duckdb.DuckDBPyRelation = session.sql(f"select *{subject} from {_TABLE}")  # noqa: S608
    return found


def _tree(session: Any, one: Plan) -> duckdb.DuckDBPyRelation:
    """Return a hierarchy as its seed will be."""
    import pandas as pd  # noqa: PLC0415 (slow to import)

    table = one.hierarchy.table()
    frame = pd.DataFrame([row.cells for row in table.rows], columns=[*table.columns], dtype=str)
    name = quote_name(one.seed)
    types = dict.fromkeys(table.columns, "text")
    if isinstance(one.hierarchy, IntervalHierarchy):
        kind = "double" if isinstance(one.hierarchy.lower_bounds[0], Decimal) else "date"
        types |= {"lower_bound": kind, "upper_bound": kind}
    columns = ", ".join(f"cast({column} as {kind}) as {column}" for column, kind in types.items())
    session.register("dbt_anonymize_tree", frame)
    session.execute(f"create table {name} as select {columns} from dbt_anonymize_tree")  # noqa: S608
    session.unregister("dbt_anonymize_tree")
    found: duckdb.DuckDBPyRelation = session.table(name)
    return found


def _leaves(session: Any, spec: Spec, plans: Sequence[Plan]) -> np.ndarray:
    """Return the leaf of each quasi-identifier of each record, in the order of the record key."""
    columns = [
        quote_name(one.column)
        if one.kind == "interval"
        else f"cast({quote_name(one.column)} as text)"
        for one in plans
    ]
    key = quote_name(spec.record_key)
    rows = session.sql(f"select {', '.join(columns)} from {_TABLE} order by {key}").fetchall()  # noqa: S608
    values = zip(*rows, strict=True) if rows else [()] * len(plans)
    return np.column_stack([leaf_of(one, of) for one, of in zip(plans, values, strict=True)])


def _codes(present: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Return the codes of leaves; -1 of those that were not counted."""
    places = np.minimum(np.searchsorted(present, leaves), len(present) - 1)
    return np.where(present[places] == leaves, places, -1)


def _shown(
    warehouse: Warehouse, relation: Any, spec: Spec, order: str, place: dict[str, int]
) -> Shown:
    """Read what is released beside the quasi-identifiers, of a few of the records."""
    described = {one.name: one for one in warehouse.adapter.get_columns_in_relation(relation)}
    columns = [
        name
        for name, column in spec.columns.items()
        if column.role in {"sensitive", "insensitive", "masked"}
    ]
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
    rows = warehouse.rows(f"select {', '.join([key, *parts])} from {relation}{order}")  # noqa: S608
    rows = [row for row in rows if row[0] in place]
    values = {name: [row[at] for row in rows] for at, name in enumerate(columns, start=1)}
    return Shown(np.array([place[row[0]] for row in rows], dtype=np.int64), values)
