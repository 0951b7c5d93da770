"""Time counting the cells of a declared table, beside one `group by` of its dimensions.

Four dimensions, two of them with hierarchies, over people of one record each; one effort. The SQL
is that of the macro ``table_cells``, compiled by dbt::

    python benchmarks/table_cells.py --records 1_000_000 10_000_000

CPU seconds and seconds on the clock; the aim is three times the `group by`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import duckdb
from metering import Clock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.properties.compilation import Ref, body, compile_models

DIMENSIONS = [
    {"name": "age", "kind": "interval", "hierarchy": Ref("ages")},
    {"name": "zip", "kind": "categorical", "hierarchy": Ref("zips")},
    {"name": "month"},
    {"name": "result"},
]
MODEL = body(
    "table_cells",
    anonymization="people",
    microdata=Ref("microdata"),
    draws=Ref("draws"),
    record_key="person",
    dimensions=DIMENSIONS,
    efforts={number: [[1], [1], [0], [0]] for number in (0, 1)},
    sums=[],
    content="age, month, result, zip",
    protections={1: "hide"},
)
TABLES = """
create table ages as
    select n * 5 as lower_bound, n * 5 + 5 as upper_bound, (n // 2)::text as level_1
    from range(20) as _(n);
create table zips as
    select lpad(n::text, 3, '0') as value, left(lpad(n::text, 3, '0'), 1) as level_1
    from range(1000) as _(n);
create table microdata as
    select
        n as person, n * 7919 % 100 as age, n * 7919 % 100 // 5 * 5 as age_leaf,
        lpad((hash(n) % 1000)::text, 3, '0') as zip, zip as zip_leaf,
        (hash(n + 1) % 12)::text as month, (hash(n + 2) % 4)::text as result
    from range({records}) as _(n);
create table draws as select person, hash(person) / 18446744073709551616.0 as draw from microdata;
"""


def main() -> None:
    """Print a line for each number of records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", nargs="+", type=int, default=[1_000_000])
    arguments = parser.parse_args()
    names = ["ages", "zips", "microdata", "draws"]
    with tempfile.TemporaryDirectory() as folder:
        (sql,) = compile_models(Path(folder), {"cells": MODEL}, names).values()
    print("records | cells: CPU clock | group by: CPU clock")
    for records in arguments.records:
        measure(records, sql)


def measure(records: int, sql: str) -> None:
    """Count the cells of one table in both ways."""
    with duckdb.connect() as session:
        session.execute(TABLES.format(records=records))
        grouped = "select age_leaf, zip_leaf, month, result, count(*) from microdata group by all"
        spent = []
        for text in (sql, grouped):
            clock = Clock()
            with clock.running():
                session.execute(f"create or replace table counted as {text}")
            spent.append(f"{clock.cpu:.1f} {clock.wall:.1f}")
        print(f"{records:,} | {' | '.join(spent)}", flush=True)


if __name__ == "__main__":
    main()
