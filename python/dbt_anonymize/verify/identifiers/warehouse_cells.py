"""The search for identifiers in the cells of every table of the warehouse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.identifiers import text_variants as forms
from dbt_anonymize.verify.identifiers.coincidence import Seen, as_day, as_number_of_tables, days_in
from dbt_anonymize.verify.identifiers.number_cells import SMALLEST, Numbers, told_in_tables
from dbt_anonymize.verify.identifiers.search_targets import Hits, Place, Search, Written, joined
from dbt_anonymize.verify.identifiers.values import IdentifierValues
from dbt_anonymize.verify.relations import as_text, source_relation, stream

_DATES = re.compile(r"(?:date|timestamp)\b.*", re.IGNORECASE)
_REMEDY = (
    "Whoever opens the warehouse reads it. Keep the table in the vault, or drop the column and "
    "make the warehouse anew."
)


@dataclass(frozen=True)
class WarehouseColumns:
    """The columns of all tables: those to search, and how many others there are."""

    places: list[Place]
    not_searched: int


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
    raw = {name.lower() for name in spec.quasi_identifiers}
    source = source_relation(warehouse, spec.source).identifier
    places = []
    for schema, table, column, data_type in found:
        is_token = table == f"{spec.name}_anonymized" and column == "token"
        relation = ".".join(map(quote_name, (database, schema, table)))
        # Working tables have raw quasi-identifiers, which may be the days of identifiers, and the
        # record key, a number that may well be that of somebody. What others made has to bear them.
        is_ours = table.startswith(f"{spec.name}_") or table == source
        is_raw = is_ours and column.lower() in raw
        search = _search(warehouse, relation, column, data_type, written, is_raw=is_raw)
        is_key = column.lower() == spec.record_key.lower() and forms.is_number(data_type)
        if search and not is_token and not (is_ours and is_key):
            places.append(Place(f"{schema}.{table}.{column}", _REMEDY, search))
    return WarehouseColumns(places, len(found) - len(places))


def _search(
    warehouse: Warehouse,
    relation: str,
    column: str,
    data_type: str,
    written: Written,
    *,
    is_raw: bool,
) -> Search | None:
    name = quote_name(column)
    if forms.is_number(data_type):
        negative = "" if data_type.lower().startswith("u") else f" or {name} <= -{SMALLEST}"
        cells = _Cells(warehouse, relation, name, f"{name} >= {SMALLEST}{negative}", is_raw)
        return partial(_search_numbers, cells, written)
    if _DATES.fullmatch(data_type) and not is_raw:
        name = f"try_cast({name} as date)"
        dates = _Cells(warehouse, relation, name, f"{name} is not null")
        return partial(_search_dates, dates, written)
    if forms.is_text(data_type) or data_type.lower() == "uuid":
        texts = _Cells(warehouse, relation, name, f"{name} is not null", is_raw)
        return partial(_search_texts, texts, written)
    return None


@dataclass(frozen=True)
class _Cells:
    """The distinct cells of a column, as text; those of a raw quasi-identifier may be any days."""

    warehouse: Warehouse
    relation: str
    expression: str
    condition: str
    is_raw: bool = False

    def rows(self) -> int:
        """Count the cells that are searched, also equal ones."""
        sql = f"select count(*) from {self.relation} where {self.condition}"  # noqa: S608
        return int(self.warehouse.rows(sql)[0][0])

    def __iter__(self) -> Iterator[list[str]]:
        text = as_text(self.expression)
        sql = f"select distinct {text} from {self.relation} where {self.condition}"  # noqa: S608
        for batch in stream(self.warehouse.cursor(), sql):
            yield [row[0] for row in batch]


def _search_texts(cells: _Cells, written: Written, values: IdentifierValues, hits: Hits) -> None:
    patterns, days = values.patterns(forms.forms_in_cells), Seen.days()
    has_days = not cells.is_raw and bool(values.entries(as_day, keys=False))

    def texts() -> Iterator[bytes]:
        for batch in cells:
            text = joined(batch)
            if has_days:
                days.add(days_in(text))
            yield text

    found = patterns.search.occur_in_any(texts())
    is_looked_for = patterns.is_long & ~values.is_key[patterns.owners]
    told = ~written.digits(values, forms.forms_in_cells)
    hits.add(patterns, found & is_looked_for, told | ~is_looked_for)
    _judge_days(values, hits, days, written)


def _search_numbers(cells: _Cells, written: Written, values: IdentifierValues, hits: Hits) -> None:
    patterns, numbers = values.patterns(forms.forms_as_whole_number), Numbers()
    found = patterns.search.occur_in_any(numbers.joined(cells))
    is_key = values.is_key[patterns.owners]
    told = told_in_tables(numbers, patterns, found & ~is_key)
    told &= ~written.digits(values, forms.forms_as_whole_number)
    hits.add(patterns, found & ~is_key, told | is_key)
    short = values.entries(as_number_of_tables, keys=False)
    hits.judge(short, numbers.short, public=written.numbers, rows=cells.rows)
    if not cells.is_raw:
        _judge_days(values, hits, numbers.days, written)


def _search_dates(cells: _Cells, written: Written, values: IdentifierValues, hits: Hits) -> None:
    days = Seen.days()
    for batch in cells:
        days.add(days_in(joined(batch)))
    _judge_days(values, hits, days, written)


def _judge_days(values: IdentifierValues, hits: Hits, days: Seen, written: Written) -> None:
    hits.judge(values.entries(as_day, keys=False), days, public=written.days)
