"""Cost of a whole build on Postgres: seconds and CPU of each relation.

usage: python benchmarks/scale_postgres.py [--rows ROWS] [--compare]

The people and the spec are those of ``scale.py``, with a vault that leads from a class to its
people. A server of its own is started with the settings it comes with, but that nothing waits for
the disk. Seconds of CPU are those of the server; dbt's own, which do not grow with the rows, are
in the clock alone. Beside them how many times the floor in the same run: a copy of the same
columns, a plain ``group by``, or the relation that is read.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import yaml
from scale import (
    NAMES,
    PERSON,
    Meter,
    hierarchy,
    metered,
    print_heads,
    run_dbt,
    spec,
    write_files,
    write_people,
    write_project,
)

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from dbt_anonymize.cli import app  # noqa: E402 (found by the line above)
from dbt_anonymize.project.generate import generate  # noqa: E402
from tests.engines.compared import assert_same, plain  # noqa: E402
from tests.extensions.postgres.cluster import find_binaries, temporary_cluster  # noqa: E402
from tests.extensions.postgres.server import Server, temporary_server  # noqa: E402
from tests.projects import Project  # noqa: E402

EVALUATION = "people_evaluation"
# How `copy` writes and `create table` declares what the people have.
TYPES = {PERSON: "bigint", "age": "integer"}
# What differs by time or engine and not by content.
RANDOM = ("released_at", "built_at", "fingerprint")


def declaration() -> dict[str, Any]:
    """Return the spec, with a vault."""
    return spec() | {"mapping": "class"}


def write_postgres_project(folder: Path, server: Server) -> Project:
    """Write the dbt project around the table that was loaded."""
    output = server.output(server.builder) | {"schema": "scale", "threads": 1}
    project = {
        "name": "scale",
        "version": "1.0",
        "profile": "scale",
        "flags": {"send_anonymous_usage_stats": False},
        "vars": {"dbt_anonymize_python": False},
    }
    texts = {
        "dbt_project.yml": yaml.safe_dump(project),
        "packages.yml": yaml.safe_dump({"packages": [{"local": "package"}]}),
        "profiles.yml": yaml.safe_dump({"scale": {"target": "t", "outputs": {"t": output}}}),
        "models/census.sql": "{{ config(materialized='view') }}\nselect * from scale.people",
        "anonymizations/people.yml": yaml.safe_dump(declaration(), sort_keys=False),
        **{f"seeds/{name}s.csv": hierarchy(name) for name in NAMES},
    }
    write_files(folder, texts)
    (folder / "package").mkdir()
    for part in ("dbt_project.yml", "macros"):
        (folder / "package" / part).symlink_to(REPOSITORY / part)
    made = Project(folder, "")
    assert made.dbt("deps", "--quiet").succeeded
    generate(folder)
    return made


def load(server: Server, file: Path) -> None:
    """Bring the people from the Parquet file into a table, which is analyzed, as by autovacuum."""
    csv = file.with_suffix(".csv")
    duckdb.sql(f"copy (from '{file}') to '{csv}' (header false)")
    columns = [f"{name} {TYPES.get(name, 'text')}" for name in (PERSON, *NAMES, "illness")]
    with server.connection(server.builder) as connection, csv.open(encoding="utf-8") as rows:
        cursor = connection.cursor()
        cursor.execute(f"create schema scale; create table scale.people ({', '.join(columns)})")
        cursor.copy_expert("copy scale.people from stdin (format csv)", rows)
        cursor.execute("analyze scale.people")
    csv.unlink()


def copied(server: Server, meter: Meter, name: str, select: str) -> float:
    """Write rows into a table; return the CPU seconds."""
    with server.connection(server.builder) as connection:
        cursor = connection.cursor()
        meter.start()
        cursor.execute(f"create table scale.copied as {select}")
        cpu = meter.show(name)
        cursor.execute("drop table scale.copied")
    return cpu


def floors(server: Server, meter: Meter) -> dict[str, float]:
    """Run what has no privacy in it; CPU seconds by the relation that they are the floor of."""
    columns = ", ".join((*NAMES, "illness"))
    grouped = f"select {columns}, count(*) as records from scale.people group by {columns}"  # noqa: S608
    # Once before: the first query reads the table from the disk.
    copied(server, meter, "(the first query)", "select * from scale.people")
    return {
        "microdata": copied(server, meter, "floor: copy", "select * from scale.people"),
        "frequencies": copied(server, meter, "floor: group by", grouped),
    }


def dbt(folder: Path, meter: Meter, floor: dict[str, float], *arguments: str) -> None:
    """Build what is selected, and print what each node took."""
    if errors := run_dbt(folder, meter, floor, *arguments):
        sys.exit(errors)


def build(folder: Path, server: Server, meter: Meter) -> None:
    """Build everything, and copy afterwards what the last relations are compared with."""
    os.chdir(folder)
    dbt(folder, meter, {}, "--select", "census", "resource_type:seed")
    floor = floors(server, meter)
    without = ("--exclude", "resource_type:seed", f"{EVALUATION}+")
    dbt(folder, meter, floor, "--select", "people", *without)
    os.environ["DBT_PROFILES_DIR"] = str(folder)
    with metered(meter, f"{EVALUATION}: the command"):
        app(["evaluate", "people", "--project-dir", str(folder)], standalone_mode=False)
    dbt(folder, meter, floor, "--select", f"{EVALUATION}+")
    for relation in ("scale_release.people_anonymized", "scale_vault.people_identifiers"):
        copied(server, meter, f"floor: copy of {relation[13:]}", f"select * from {relation}")  # noqa: S608


def compare(server: Server, folder: Path, file: Path) -> None:
    """Build the same on DuckDB, and compare every relation of both, row by row."""
    project = write_project(folder, file, {"threads": 2})
    text = yaml.safe_dump(declaration(), sort_keys=False)
    (folder / "anonymizations" / "people.yml").write_text(text, encoding="utf-8")
    generate(folder)
    project.build()
    release = str(project.release_file("people"))
    with duckdb.connect(str(folder / "scale.duckdb")) as connection:
        connection.execute(f"attach '{release}' as released (read_only)")
        connection.execute(f"attach '{folder}/vault/vault.duckdb' as vault (read_only)")
        for schema, name in relations(server):
            found = connection.execute(
                "select table_catalog, table_schema, column_name from information_schema.columns"
                " where table_name = ? and table_schema <> 'information_schema'"
                " order by table_catalog = 'scale', ordinal_position",
                [name],
            ).fetchall()
            places = [place for place in found if place[:2] == found[0][:2]] if found else []
            columns = ", ".join(f'"{column}"' for *_, column in places if column not in RANDOM)
            if not columns:
                print(f"{name}: not on DuckDB")
                continue
            place = f'"{places[0][0]}"."{places[0][1]}"."{name}"'
            here = server.query(f"select {columns} from {schema}.{name}")  # noqa: S608
            there = connection.execute(f"select {columns} from {place}").fetchall()  # noqa: S608
            show_difference(name, here, there)


def show_difference(name: str, here: list[Any], there: list[Any]) -> None:
    """Print whether rows are the same, but for those that say how long something took."""
    ours, theirs = ([row for row in plain(rows) if "seconds" not in row] for rows in (here, there))
    try:
        if ours or theirs:
            assert_same(ours, theirs, name)
        print(f"{name}: {len(ours):,} rows are the same", flush=True)
    except AssertionError as error:
        print(f"{name}: {error}", flush=True)


def relations(server: Server) -> list[tuple[str, str]]:
    """Return schemas and names of what was built, but for the register of an engine's digests."""
    found = server.query(
        "select table_schema, table_name from information_schema.tables where table_schema like"
        " 'scale%' and table_name like 'people\\_%' and table_name <> 'people_register'"
        " order by 1, 2"
    )
    return [(schema, name) for schema, name in found]


@contextmanager
def started() -> Iterator[tuple[Server, int]]:
    """Start a server, and give it with the number of its process."""
    binaries = find_binaries()
    if binaries is None:
        sys.exit("there is no Postgres: install the server")
    with temporary_cluster(binaries) as url, temporary_server(url) as server:
        with server.connection(server.builder) as connection:
            stat = Path(f"/proc/{connection.get_backend_pid()}/stat").read_text(encoding="ascii")
        yield server, int(stat.rpartition(")")[2].split()[1])


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--compare", action="store_true", help="with DuckDB, row by row")
    given = parser.parse_args()
    with started() as (server, root), tempfile.TemporaryDirectory() as name:
        meter = Meter(root=root)
        print(f"{given.rows:,} records, Postgres {server.version}")
        print_heads()
        file = Path(name) / "people.parquet"
        write_people(file, given.rows)
        load(server, file)
        folder = write_postgres_project(Path(name) / "project", server).folder
        build(folder, server, meter)
        if given.compare:
            compare(server, Path(name) / "duckdb", file)


if __name__ == "__main__":
    main()
