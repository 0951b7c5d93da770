"""Run the steps in Python outside of dbt, and store their rows in the warehouse.

The generated Python model itself runs, with relations in the place of `dbt.ref`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.evaluation.data.reading import FeatureColumn
from dbt_anonymize.evaluation.data.sampling import Sample
from dbt_anonymize.evaluation.run import report_sample
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.engines import Drawn, engine_of, server_of
from dbt_anonymize.project.generate import render
from dbt_anonymize.project.steps import EVALUATION, Step

if TYPE_CHECKING:
    import duckdb

    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class _Dbt:
    """Part of dbt that a Python model sees."""

    ref: Callable[[str], duckdb.DuckDBPyRelation]

    def config(self, **settings: Any) -> None:
        """Ignore the settings of the model's table."""


def update_rows(warehouse: Warehouse, spec: Spec, step: Step) -> int:
    """Compute the rows of a step, replace earlier ones and return their number.

    Nothing is written if their input changes meanwhile (`WarehouseError`).
    """
    relation = _rows_relation(warehouse, step)
    before = fingerprint_of(warehouse, spec)
    frame = compute_rows(warehouse, spec, step)
    if fingerprint_of(warehouse, spec) != before:
        raise WarehouseError(
            f"{spec.name}: what is evaluated must stay as it is meanwhile; it was built anew. "
            f"Run `{step.command}` again."
        )
    warehouse.adapter.create_schema(relation)
    engine_of(warehouse).write_rows(warehouse, relation, _with_fingerprint(frame, step, before))
    return len(frame)


def has_current_rows(warehouse: Warehouse, spec: Spec, step: Step) -> bool:
    """Tell whether the rows of a step exist and are current."""
    relation = warehouse.find(_rows_relation(warehouse, step))
    if relation is None:
        return False
    sql = f"select distinct fingerprint from {relation}"  # noqa: S608 (name of our own)
    return warehouse.rows(sql) == [(fingerprint_of(warehouse, spec),)]


def fingerprint_of(warehouse: Warehouse, spec: Spec) -> str:
    """Return the fingerprint in `<n>_fingerprint`."""
    remedy = f"Run `dbt-anonymize build {spec.name}`, which builds it first."
    relation = warehouse.relation_of_ref(f"{spec.name}_fingerprint", remedy=remedy)
    ((fingerprint,),) = warehouse.rows(f"select fingerprint from {relation}")  # noqa: S608
    return str(fingerprint)


def compute_rows(warehouse: Warehouse, spec: Spec, step: Step) -> pd.DataFrame:
    """Run the Python model of a step and return its rows."""
    engine = engine_of(warehouse)
    drawn = Drawn(spec.record_key)
    if step.name == EVALUATION and not engine.READS_IN_PLACE:
        drawn = draw(warehouse, spec)
    names: dict[str, Any] = {}
    with engine.open_reader(warehouse) as reader:
        # The code that dbt would run; a spec puts only literals into it.
        exec(render(spec)[f"{step.model}.py"], names)  # noqa: S102
        if step.writes_labels and not engine.READS_IN_PLACE:
            server_of(warehouse).write_alike(warehouse, reader.session)
        rows = names["model"](_Dbt(partial(reader.relation, drawn=drawn)), reader.session)
        return rows if isinstance(rows, pd.DataFrame) else _fetch_frame(rows, step)


def _fetch_frame(rows: duckdb.DuckDBPyRelation, step: Step) -> pd.DataFrame:
    """Fetch a relation; columns with the type of another relation are fetched as text."""
    columns = [
        quote_name(name) if isinstance(kind, str) else f"cast({quote_name(name)} as text)"
        for name, kind in step.columns.items()
    ]
    named = (
        f"{sql} as {quote_name(name)}" for sql, name in zip(columns, step.columns, strict=True)
    )
    frame: pd.DataFrame = rows.project(", ".join(named)).df()
    return frame


def feature_columns(
    spec: Spec, relation: Callable[[str], duckdb.DuckDBPyRelation]
) -> list[FeatureColumn]:
    """Return the features of a spec; ``relation`` returns their hierarchies."""
    return [
        FeatureColumn(name, spec.kind_of_feature(name), relation(tree.ref) if tree else None)
        for name in spec.features
        for tree in [spec.quasi_identifiers.get(name)]
    ]


def draw(warehouse: Warehouse, spec: Spec, model: str | None = None) -> Drawn:
    """Draw the records of `draw_sample` in the warehouse: those with the smallest MD5.

    They are drawn from ``model``, by default effort 0.
    """
    quality, key = spec.tests, warehouse.macro("_quote", name=spec.record_key)
    untouched = warehouse.relation_of_ref(model or f"{spec.name}_effort_0")
    seen = ""
    if quality.outer_share:
        microdata = warehouse.relation_of_ref(f"{spec.name}_microdata")
        seen = f"{key} in (select {key} from {microdata} where not is_outer)"  # noqa: S608
    where = f" where {seen}" if seen else ""
    ((records,),) = warehouse.rows(f"select count(*) from {untouched}{where}")  # noqa: S608
    if records <= quality.sample:
        # The model itself leaves out outer records.
        return Drawn(spec.record_key)
    text = (
        f"{warehouse.macro('_as_text', expression=key)} || {quote_text(str(quality.random_state))}"
    )
    digits = engine_of(warehouse).md5_by_bytes(text)
    smallest = (
        f"select {digits} as draw from {untouched}{where} order by draw limit {quality.sample}"  # noqa: S608
    )
    ((limit,),) = warehouse.rows(f"select max(draw) from ({smallest}) as drawn")  # noqa: S608
    report_sample(
        Sample(records, quality.sample),
        fit=quality.fit,
        random_state=quality.random_state,
        anonymization=spec.name,
        may_fit_once=not spec.external_efforts,
    )
    condition = f"{digits} <= {quote_text(limit)}"
    return Drawn(spec.record_key, f"{condition} and {seen}" if seen else condition)


def _with_fingerprint(rows: pd.DataFrame, step: Step, fingerprint: str) -> pd.DataFrame:
    """Return rows with the fingerprint; if there are none, one row with only the fingerprint."""
    if rows.empty:
        rows = rows.reindex([0])
    return rows[[*step.columns]].assign(fingerprint=fingerprint)


def _rows_relation(warehouse: Warehouse, step: Step) -> Any:
    """Return the declared source of the rows, which need not exist."""
    sources = {(node.source_name, node.name): node for node in warehouse.manifest.sources.values()}
    source = sources.get((f"{step.anonymization}_rows", step.rows))
    if source is None:
        raise WarehouseError(
            f"{step.anonymization}: its generated models must be without Python; they are not. "
            "Set `vars: {dbt_anonymize_python: false}` in dbt_project.yml and run "
            f"`dbt-anonymize generate {step.anonymization}`; with DuckDB and dbt 1, `dbt build` "
            "evaluates by itself."
        )
    return warehouse.adapter.Relation.create(
        database=source.database,
        schema=source.schema,
        identifier=source.identifier,
        type="table",
    )
