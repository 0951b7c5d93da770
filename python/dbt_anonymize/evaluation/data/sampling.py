"""A seeded sample of records, drawn in the database, so that large tables are scored in memory.

It takes the records with the smallest MD5 of record key and random state: the draw is the same in
every effort and needs no order of rows.
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
    """The records to evaluate: ``size`` of ``records``, by an SQL condition (None: all)."""

    records: int
    size: int
    condition: str | None = None

    def restrict(self, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Return the records of a relation that are in the sample, lazily."""
        return relation if self.condition is None else relation.filter(self.condition)


def draw_sample(
    untouched: duckdb.DuckDBPyRelation,
    record_key: str,
    largest: int,
    random_state: int,
    condition: str | None = None,
) -> Sample:
    """Choose at most ``largest`` records of the untouched effort that match ``condition``."""
    relation = untouched if condition is None else untouched.filter(condition)
    records = query(relation, f"select count(*) from {SOURCE}").fetchall()[0][0]  # noqa: S608
    if records <= largest:
        return Sample(records, records, condition)
    draw = f"md5({text_sql(record_key)} || {quote_text(str(random_state))})"
    limit = _largest_draw(relation, draw, largest, records)
    drawn = f"{draw} <= {quote_text(limit)}"
    return Sample(records, largest, drawn if condition is None else f"{drawn} and {condition}")


def _largest_draw(relation: duckdb.DuckDBPyRelation, draw: str, size: int, records: int) -> str:
    """Return the largest of the ``size`` smallest digests.

    The first query reads only digests below a bound, so that the engine drops other records before
    it looks up their labels. The bound is eight standard deviations above the expected number.
    """
    share = (size + 8 * math.sqrt(size) + 64) / records
    below = quote_text(f"{int(share * 16**8):08x}")
    for where in (f" where {draw} < {below}", "") if share < 1 else ("",):
        smallest = f"select {draw} as draw from {SOURCE}{where} order by draw limit {size}"  # noqa: S608
        count, limit = query(
            relation,
            f"select count(*), max(draw) from ({smallest}) as drawn",  # noqa: S608
        ).fetchall()[0]
        if count == size:
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
    """Copy the sample of each effort into a temporary table, so that later reads scan no more.

    Nothing is copied where all records are evaluated. ``watch`` takes the seconds of each effort by
    its position.
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
            rows = (of_first if place else sample).restrict(effort.relation).sql_query()
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
    """Return the SQL condition of records that are not outer; ``outer`` has their ``is_outer``."""
    key = quote_name(record_key)
    inner = f"select {key} from ({outer.sql_query()}) as outer_records where not is_outer"  # noqa: S608
    return f"{key} in ({inner})"
