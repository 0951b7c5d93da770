"""A seeded sample of records, drawn in the database, so that large tables are scored in memory.

It takes the smallest MD5 of record key and random state: the draw is the same in every effort and
needs no order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt_anonymize.evaluation.data.relations import SOURCE, query, text_sql
from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Sample:
    """The records that are evaluated: ``size`` of ``records``, by an SQL condition (None: all)."""

    records: int
    size: int
    condition: str | None = None

    def of(self, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Return the records of the sample, lazily, of a relation with the record key."""
        return relation if self.condition is None else relation.filter(self.condition)


def draw_sample(
    untouched: duckdb.DuckDBPyRelation,
    record_key: str,
    largest: int,
    random_state: int,
    seen: str | None = None,
) -> Sample:
    """Choose at most ``largest`` records of the untouched effort, of those that an SQL says."""
    relation = untouched if seen is None else untouched.filter(seen)
    records = query(relation, f"select count(*) from {SOURCE}").fetchall()[0][0]  # noqa: S608
    if records <= largest:
        return Sample(records, records, seen)
    draw = f"md5({text_sql(record_key)} || {quote_text(str(random_state))})"
    smallest = f"select {draw} as draw from {SOURCE} order by draw limit {largest}"  # noqa: S608
    limit = query(relation, f"select max(draw) from ({smallest}) as drawn").fetchall()[0][0]  # noqa: S608
    drawn = f"{draw} <= {quote_text(limit)}"
    return Sample(records, largest, drawn if seen is None else f"{drawn} and {seen}")


def inner_sql(outer: duckdb.DuckDBPyRelation, record_key: str) -> str:
    """Return the SQL condition of the records that are not outer, by a relation that says so."""
    key = quote_name(record_key)
    inner = f"select {key} from ({outer.sql_query()}) as outer_records where not is_outer"  # noqa: S608
    return f"{key} in ({inner})"
