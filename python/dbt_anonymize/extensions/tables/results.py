"""Results of a table and its released rows, as commands read them."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.tables.register import read_table_register, said_of
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.results import OtherResults, release_location

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

_RESULTS = (
    *("effort", "cells", "hidden_cells", "qf", "zero_rule", "qnf", "q", "qualifies"),
    *("protection", "is_chosen", "reason"),
)


def read_results(warehouse: Warehouse, name: str) -> list[dict[str, Any]]:
    """Read ``<n>_table_results``; a `WarehouseError` if it is not built."""
    relation = warehouse.relation_of_ref(f"{name}_table_results")
    return [
        dict(zip(_RESULTS, row, strict=True))
        for row in warehouse.rows(f"select {', '.join(_RESULTS)} from {relation} order by effort")
    ]


def chosen_effort(efforts: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the results of the chosen effort."""
    return next((row for row in efforts if row["is_chosen"]), None)


def results(warehouse: Warehouse, spec: Spec) -> OtherResults:
    """Return the results of the last build; a `WarehouseError` if it is not built."""
    rows = read_results(warehouse, spec.name)
    reasons = [f"effort {row['effort']}, {row['protection']}, is {row['reason']}" for row in rows]
    legend = (
        "QF: how well the table answers its questions, beside true counts at the finest levels of "
        "all efforts\nzero rule: QF of who knows no count and answers with equal shares\n"
        "QNF: how little it tells of small cells, 0.5 is just enough; "
        f"Q = QF + {cast(Any, spec).table.alpha:g} * QNF\n"
        "numbers beside columns: levels of their hierarchies"
    )
    released = [release_location(warehouse, spec.name) or "nothing"]
    if released != ["nothing"] and chosen_effort(rows) is None:
        released.append("an earlier table, which stays")
    if said := said_of(read_table_register(warehouse, spec.name)):
        released.append(said)
    sentences = [*reasons, f"released: {', '.join(released)}"]
    return OtherResults(_RESULTS[:8], rows, sentences, legend, spec.description)


def released_rows(
    warehouse: Warehouse, name: str, file: Path
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return columns and rows of the released table, in its order.

    ``file`` is that of the release on DuckDB; elsewhere readers have the relation.
    """
    table = f"{name}_table"
    if warehouse.is_duckdb:
        import duckdb  # noqa: PLC0415 (slow to import)

        try:
            with duckdb.connect(str(file), read_only=True) as session:
                return _all_of(session.cursor(), quote_name(table))
        except duckdb.Error as error:
            raise WarehouseError(
                f"{file}: must be a DuckDB file with {table} that can be read; it is none "
                f"({type(error).__name__}). Run `dbt build`."
            ) from None
    return _all_of(warehouse.cursor(), str(warehouse.relation_of_ref(table)))


def _all_of(cursor: Any, relation: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    cursor.execute(f"select * from {relation}")
    columns = [str(column[0]) for column in cursor.description]
    return columns, [tuple(row) for row in cursor.fetchall()]
