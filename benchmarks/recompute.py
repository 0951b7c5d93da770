"""Recompute a release of many records within bounded memory: seconds, and the most memory used.

usage: python benchmarks/recompute.py [RECORDS] [GB]

By default 10 million records in 4 GB. Source, hierarchies and all that is compared lie in files of
DuckDB, as after a build.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.expected import Expected
from dbt_anonymize.verify.recomputation.tables import Tables

SOURCE = """
select
    i as record_id,
    'Person ' || hash(i) as name,
    (hash(i, 1) % 90)::integer as age,
    lpad((hash(i, 2) % 1000)::varchar, 5, '0') as zip,
    round(hash(i, 3) % 10000000 / 100.0::double, 2) as income,
    'illness ' || hash(i, 4) % 20 as diagnosis,
    case when i % 10 = 0 then null else hash(i, 5) % 100000 / 7.0::double end as cost,
    date '2020-01-01' + (hash(i, 6) % 1500)::integer as visited
from range({records}) as numbers(i)
"""
HIERARCHIES = {
    "age": """
        select 10 * i as lower_bound, 10 * i + 10 as upper_bound,
            '[' || 10 * i || ', ' || 10 * i + 10 || ')' as level_1, '*' as level_2
        from range(10) as numbers(i)
    """,
    "income": """
        select 5000.0::double * i as lower_bound, 5000.0::double * (i + 1) as upper_bound,
            '[' || 5000 * i || ', ' || 5000 * (i + 1) || ')' as level_1,
            '[' || 20000 * (i // 4) || ', ' || 20000 * (i // 4 + 1) || ')' as level_2,
            '*' as level_3
        from range(20) as numbers(i)
    """,
    "zip": """
        select lpad(i::varchar, 5, '0') as value,
            left(lpad(i::varchar, 5, '0'), 3) || '**' as level_1, '*' as level_2
        from range(1000) as numbers(i)
    """,
}
KINDS = {"age": ("interval", 2), "zip": ("categorical", 2), "income": ("interval", 3)}
SPEC = Spec.model_validate(
    {
        "version": 1,
        "name": "visits",
        "source": {"ref": "source"},
        "record_key": "record_id",
        "columns": {
            "name": {"role": "identifier"},
            **{
                name: {
                    "role": "quasi_identifier",
                    "hierarchy": {"ref": name, "kind": kind, "levels": levels},
                }
                for name, (kind, levels) in KINDS.items()
            },
            "diagnosis": {"role": "sensitive"},
            "cost": {"role": "insensitive"},
            "visited": {"role": "insensitive"},
        },
        "target": "diagnosis",
        "features": ["age"],
        "efforts": [{"age": 1, "zip": 1, "income": 2}],
        "guarantees": {
            "k_anonymity": {"k": 10},
            "l_diversity": {"attribute": "diagnosis", "l": 2},
        },
        "suppression_limit": 0.01,
        "quality": {
            "model": "naive_bayes",
            "measure": "accuracy",
            "repetitions": 10,
            "test_share": 0.3,
            "random_state": 1,
        },
        "alpha": 0.1,
        "qnf": "k",
    }
)


def build(connection: duckdb.DuckDBPyConnection, folder: Path, records: int) -> Tables:
    """Write what a build would have left."""
    connection.execute(f"attach '{folder / 'release.duckdb'}' as release")
    connection.execute(f"create table source as {SOURCE.format(records=records)}")
    for name, sql in HIERARCHIES.items():
        connection.execute(f"create table tree_{name} as {sql}")
    trees = {name: f"tree_{name}" for name in HIERARCHIES}
    expected = Expected(Tables(connection, "source", trees), SPEC, 1)
    expected.count_classes()
    columns = ", ".join(map(quote_name, expected.effort_columns))
    effort = f"select {columns} from ({expected.effort}) as rows_"  # noqa: S608 (quoted)
    connection.execute(f"create table microdata as {expected.microdata}")
    connection.execute(f"create table effort as {effort}")
    connection.execute(f"create table identifiers as {expected.identifiers}")
    connection.execute(f"create table anonymized as {expected.release} order by all")
    connection.execute("create table release.visits as from anonymized")
    expected.close()
    return Tables(
        connection,
        "source",
        trees,
        microdata="microdata",
        effort="effort",
        anonymized="anonymized",
        release="release.visits",
        identifiers="identifiers",
    )


def main(records: int, gigabytes: int) -> None:
    """Build once, recompute once, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"memory_limit": f"{gigabytes}GB", "threads": "2"}
        with duckdb.connect(str(Path(folder) / "work.duckdb"), config=settings) as connection:
            start = time.perf_counter()
            tables = build(connection, Path(folder), records)
            built = time.perf_counter() - start
            start, processor = time.perf_counter(), time.process_time()
            findings = recompute(tables, SPEC, effort=1)
            recomputed = time.perf_counter() - start
            processor = time.process_time() - processor
        for finding in findings:
            print(f"{finding.status:8} {finding.subject}: {finding.message}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{records:,} records, limit {gigabytes} GB: built in {built:.0f} s")
        print(f"recomputed in {recomputed:.0f} s, {processor:.0f} s of processors")
        print(f"peak of the process: {peak:.1f} GB")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 4,
    )
