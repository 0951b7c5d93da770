"""The search for identifiers in the cells of every table of the warehouse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.spec import Spec
from dbt_anonymize.verification import forms
from dbt_anonymize.verification.identifier_values import IdentifierValues
from dbt_anonymize.verification.number_cells import (
    SMALLEST,
    Dates,
    Numbers,
    is_number,
    told_in_tables,
)
from dbt_anonymize.verification.places import Hits, Place, Search, Written, joined
from dbt_anonymize.verification.relations import as_text, stream
from dbt_anonymize.warehouse import Warehouse

_DATES = re.compile(r"(?:date|timestamp)\b.*", re.IGNORECASE)
_NO_TEXT = re.compile(
    r"(?:date|time|boolean|bool|uuid|interval|bit)\b.*|timestamp.*", re.IGNORECASE
)
_REMEDY = (
    "Whoever opens the warehouse reads it. Keep the table in the vault, or drop the column and "
    "make the warehouse anew."
)


@dataclass(frozen=True)
class WarehouseColumns:
    """The columns of all tables: those to search, and how many others there are."""

    places: list[Place]
    not_searched: int


def is_text(data_type: str) -> bool:
    """Whether a column may hold any text; dates and the like are written with digits alone."""
    return not (is_number(data_type) or _NO_TEXT.fullmatch(data_type))


def warehouse_columns(
    warehouse: Warehouse, spec: Spec, database: str, written: Written
) -> WarehouseColumns:
    """Return every column of every table of the warehouse."""
    found = warehouse.rows(
        "select c.schema_name, c.table_name, c.column_name, c.data_type "  # noqa: S608
        "from duckdb_columns() as c inner join duckdb_tables() as t "
        "on c.table_oid = t.table_oid and c.database_oid = t.database_oid "
        f"where c.database_name = {quote_text(database)} "
        "order by c.schema_name, c.table_name, c.column_index"
    )
    places = []
    for schema, table, column, data_type in found:
        is_token = table == f"{spec.name}_anonymized" and column == "token"
        relation = ".".join(map(quote_name, (database, schema, table)))
        search = _search(warehouse, relation, column, data_type, written)
        # Working tables have the record key, a number that may well be that of somebody.
        is_key = column.lower() == spec.record_key.lower() and is_number(data_type)
        if search and not is_token and not is_key:
            places.append(Place(f"{schema}.{table}.{column}", _REMEDY, search))
    return WarehouseColumns(places, len(found) - len(places))


def _search(
    warehouse: Warehouse, relation: str, column: str, data_type: str, written: Written
) -> Search | None:
    name = quote_name(column)
    if is_number(data_type):
        negative = "" if data_type.lower().startswith("u") else f" or {name} <= -{SMALLEST}"
        cells = _Cells(warehouse, relation, name, f"{name} >= {SMALLEST}{negative}")
        return partial(_search_numbers, cells, written)
    if _DATES.fullmatch(data_type):
        name = f"try_cast({name} as date)"
        return partial(_search_dates, _Cells(warehouse, relation, name, f"{name} is not null"))
    if is_text(data_type) or data_type.lower() == "uuid":
        return partial(
            _search_texts, _Cells(warehouse, relation, name, f"{name} is not null"), written
        )
    return None


@dataclass(frozen=True)
class _Cells:
    """The distinct cells of a column, as text."""

    warehouse: Warehouse
    relation: str
    expression: str
    condition: str

    def __iter__(self) -> Iterator[list[str]]:
        text = as_text(self.expression)
        sql = f"select distinct {text} from {self.relation} where {self.condition}"  # noqa: S608
        for batch in stream(self.warehouse.cursor(), sql):
            yield [row[0] for row in batch]


def _search_texts(cells: _Cells, written: Written, values: IdentifierValues, hits: Hits) -> None:
    patterns = values.patterns(forms.forms_in_cells)
    found = patterns.search.occur_in_any(map(joined, cells))
    is_looked_for = patterns.is_long & ~values.is_key[patterns.owners]
    told = ~written.digits(values, forms.forms_in_cells)
    hits.add(patterns, found & is_looked_for, told | ~is_looked_for)


def _search_numbers(cells: _Cells, written: Written, values: IdentifierValues, hits: Hits) -> None:
    patterns, numbers = values.patterns(forms.forms_as_whole_number), Numbers()
    found = patterns.search.occur_in_any(numbers.joined(cells))
    is_key = values.is_key[patterns.owners]
    told = told_in_tables(numbers, patterns, found & ~is_key)
    told &= ~written.digits(values, forms.forms_as_whole_number)
    hits.add(patterns, found & ~is_key, told | is_key)


def _search_dates(cells: _Cells, values: IdentifierValues, hits: Hits) -> None:
    patterns, dates = values.patterns(forms.forms_as_date), Dates()
    found = patterns.search.occur_in_any(dates.joined(cells))
    is_key = values.is_key[patterns.owners]
    hits.add(patterns, found & ~is_key, dates.told(found) | is_key)
