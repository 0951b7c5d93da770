"""A seeded sample of records, drawn in the database, so that large tables are scored in memory.

It takes the smallest MD5 of record key and random state: the draw is the same in every effort and
needs no order of rows.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dbt_anonymize.evaluation.data.relations import SOURCE, query, text_sql
from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb

    from dbt_anonymize.evaluation.data.reading import Effort
    from dbt_anonymize.evaluation.stopwatch import Stopwatch

_TABLE = "dbt_anonymize_sample_"


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
    """Choose at most ``largest`` records of the untouched effort, among those matching ``seen``."""
    relation = untouched if seen is None else untouched.filter(seen)
    records = query(relation, f"select count(*) from {SOURCE}").fetchall()[0][0]  # noqa: S608
    if records <= largest:
        return Sample(records, records, seen)
    draw = f"md5({text_sql(record_key)} || {quote_text(str(random_state))})"
    limit = _largest_draw(relation, draw, largest, records)
    drawn = f"{draw} <= {quote_text(limit)}"
    return Sample(records, largest, drawn if seen is None else f"{drawn} and {seen}")


def _largest_draw(relation: duckdb.DuckDBPyRelation, draw: str, drawn: int, records: int) -> str:
    """Return the largest of the smallest digests, looking first only where they nearly surely are.

    Below that share of all digests the engine drops records before it looks up their labels. It
    holds eight standard deviations more than the expected number.
    """
    share = (drawn + 8 * math.sqrt(drawn) + 64) / records
    below = quote_text(f"{int(share * 16**8):08x}")
    for where in (f" where {draw} < {below}", "") if share < 1 else ("",):
        smallest = f"select {draw} as draw from {SOURCE}{where} order by draw limit {drawn}"  # noqa: S608
        found, limit = query(
            relation,
            f"select count(*), max(draw) from ({smallest}) as drawn",  # noqa: S608
        ).fetchall()[0]
        if found == drawn:
            break
    return str(limit)


@contextlib.contextmanager
def copied_sample(
    session: duckdb.DuckDBPyConnection,
    efforts: Sequence[Effort],
    sample: Sample,
    record_key: str,
    watch: Stopwatch,
) -> Iterator[tuple[list[Effort], Sample]]:
    """Copy the sample of each effort into a temporary table, so that what reads it scans no more.

    Nothing is copied where all records are evaluated. ``watch`` takes the seconds of each effort by
    its place.
    """
    import duckdb  # noqa: PLC0415

    if sample.condition is None:
        yield list(efforts), sample
        return
    key, tables = quote_name(record_key), [f"{_TABLE}{place}" for place in range(len(efforts))]
    is_drawn = f"{key} in (select {key} from {tables[0]})"  # noqa: S608 (quoted)
    of_first = replace(sample, condition=is_drawn)
    try:
        for place, (table, effort) in enumerate(zip(tables, efforts, strict=True)):
            rows = (of_first if place else sample).of(effort.relation).sql_query()
            with watch.running(str(place)):
                session.execute(f"create or replace temporary table {table} as {rows}")
        copied = [
            replace(effort, relation=session.table(table))
            for table, effort in zip(tables, efforts, strict=True)
        ]
        yield copied, of_first
    finally:
        # After an error the transaction cannot drop anything, and its end takes the tables with it.
        with contextlib.suppress(duckdb.Error):
            for table in tables:
                session.execute(f"drop table if exists {table}")


def inner_sql(outer: duckdb.DuckDBPyRelation, record_key: str) -> str:
    """Return the SQL condition of the records that are not outer, by a relation that says so."""
    key = quote_name(record_key)
    inner = f"select {key} from ({outer.sql_query()}) as outer_records where not is_outer"  # noqa: S608
    return f"{key} in ({inner})"
