"""Time of a search to load its table from the warehouse, beside the plain ``group by``.

usage: python benchmarks/loading.py [ROWS]

Random frequencies of eight quasi-identifiers, nearly all of them distinct.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import yaml
from dbt.cli.main import dbtRunner

from dbt_anonymize.extensions.search.load import load_table
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_specs

REPOSITORY = Path(__file__).resolve().parent.parent
# Values of each quasi-identifier, and labels of its levels; the first two are intervals of numbers.
NUMBERS = {"age": (100, (100, 20, 10, 5)), "income": (5000, (5000, 100, 25, 5))}
WORDS = {
    "zip": (2000, (200, 20, 4)),
    "sex": (2, ()),
    "education": (16, (8, 4)),
    "occupation": (15, (5,)),
    "country": (40, (10, 5)),
    "marital_status": (7, (3,)),
}
SETTINGS = {
    "name": "benchmark",
    "version": "1.0",
    "profile": "benchmark",
    "flags": {"send_anonymous_usage_stats": False},
}
PROFILE = {"target": "dev", "outputs": {"dev": {"type": "duckdb", "path": "people.duckdb"}}}


def main(rows: int) -> None:
    """Write a project with the frequencies, load them, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        write_project(project)
        write_warehouse(project / "people.duckdb", rows)
        with contextlib.chdir(project):
            dbtRunner().invoke(["--quiet", "deps"])
        (spec,) = load_specs(project, ["people"])
        with open_warehouse(find_project(project)) as warehouse:
            started = time.perf_counter(), time.process_time()
            table = load_table(warehouse, spec, measure="loss")
            seconds, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"{len(table.records):,} distinct rows loaded in {seconds:.1f} s ({cpu:.1f} s of CPU), "
        f"peak {memory:.1f} GB"
    )


def write_project(project: Path) -> None:
    """Write settings, a spec, and a model for each relation: dbt only needs to know its name."""
    columns = {
        name: {
            "role": "quasi_identifier",
            "hierarchy": {
                "ref": f"people_{name}",
                "kind": "interval" if name in NUMBERS else "categorical",
                "levels": len(labels) + 1,
            },
        }
        for name, (_, labels) in (NUMBERS | WORDS).items()
    }
    spec = {
        "version": 1,
        "name": "people",
        "source": {"ref": "people_source"},
        "record_key": "record_id",
        "columns": columns | {"outcome": {"role": "insensitive"}},
        "target": "outcome",
        "features": ["age"],
        "guarantees": {"k_anonymity": {"k": 5}},
        "suppression_limit": 0.05,
        "quality": {
            "model": "naive_bayes",
            "measure": "accuracy",
            "repetitions": 1,
            "test_share": 0.3,
            "random_state": 1,
        },
        "alpha": 0.1,
        "qnf": "k",
    }
    files = {
        "dbt_project.yml": SETTINGS,
        "profiles.yml": {"benchmark": PROFILE},
        "packages.yml": {"packages": [{"local": str(REPOSITORY)}]},
        "anonymizations/people.yml": spec,
    }
    for name, content in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    (project / "models").mkdir()
    for relation in ("frequencies", *NUMBERS, *WORDS):
        (project / "models" / f"people_{relation}.sql").write_text("select 1 as nothing")


def write_warehouse(path: Path, rows: int) -> None:
    """Create hierarchies and frequencies, and print how long a plain ``group by`` takes."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("select setseed(0.5)")
        drawn, selected = [], []
        for name, (size, labels) in (NUMBERS | WORDS).items():
            levels = [f"'g' || (i * {count} // {size})" for count in labels] + ["'*'"]
            named = ", ".join(f"{sql} as level_{n}" for n, sql in enumerate(levels, start=1))
            kind = "double" if name in NUMBERS else "varchar"
            leaf = (
                "cast(i as double) as lower_bound, cast(i + 1 as double) as upper_bound"
                if name in NUMBERS
                else "cast(i as varchar) as value"
            )
            connection.execute(
                f"create table people_{name} as select {leaf}, {named} from range({size}) as t (i)"  # noqa: S608
            )
            # Small values are more frequent than large ones.
            drawn.append(f"cast(floor({size} * random() * random()) as integer) as {name}")
            selected.append(f"cast({name} as {kind}) as {name}, {name}::{kind} as {name}_leaf")
        chosen = f"select {', '.join(selected)}, 'x' as outcome, 1 as records"
        source = f"select {', '.join(drawn)} from range({rows})"  # noqa: S608
        connection.execute(f"create table people_frequencies as {chosen} from ({source})")
        started = time.perf_counter()
        names = ", ".join(NUMBERS | WORDS)
        groups = f"select {names}, sum(records) from people_frequencies group by {names}"  # noqa: S608
        connection.execute(f"select count(*) from ({groups})").fetchall()  # noqa: S608
        print(f"{rows:,} rows; plain group by: {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
