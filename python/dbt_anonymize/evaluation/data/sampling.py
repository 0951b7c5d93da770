"""A seeded sample of records, drawn in the database, so that large tables are scored in memory.

It takes the smallest MD5 of record key and random state: the draw is the same in every effort and
needs no order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt_anonymize.evaluation.data.relations import SOURCE, query, text_sql
from dbt_anonymize.literals import quote_text

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
    untouched: duckdb.DuckDBPyRelation, record_key: str, largest: int, random_state: int
) -> Sample:
    """Choose at most ``largest`` records of the untouched effort."""
    records = query(untouched, f"select count(*) from {SOURCE}").fetchall()[0][0]  # noqa: S608
    if records <= largest:
        return Sample(records, records)
    draw = f"md5({text_sql(record_key)} || {quote_text(str(random_state))})"
    smallest = f"select {draw} as draw from {SOURCE} order by draw limit {largest}"  # noqa: S608
    limit = query(untouched, f"select max(draw) from ({smallest}) as drawn").fetchall()[0][0]  # noqa: S608
    return Sample(records, largest, f"{draw} <= {quote_text(limit)}")
