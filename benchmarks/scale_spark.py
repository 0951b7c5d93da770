"""Cost of a whole build on a local Spark: seconds, CPU and memory of each relation.

usage: python benchmarks/scale_spark.py [--rows ROWS] [--memory GB]

The people, the spec and the floors are those of ``scale.py``; run it in the environment that
``make spark`` makes. CPU and memory are those of this process and of Java, which it starts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import yaml
from scale import (
    NAMES,
    Meter,
    hierarchy,
    metered,
    print_heads,
    run_dbt,
    spec,
    write_files,
    write_people,
)

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from dbt_anonymize.project.generate import generate  # noqa: E402 (found by the line above)
from tests.projects import Project  # noqa: E402

EVALUATION = "people_evaluation"


def parameters(folder: Path, memory: int) -> dict[str, str]:
    """Return what starts Spark: two cores, everything in one folder."""
    return {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{memory}g",
        "spark.sql.shuffle.partitions": "16",
        "spark.sql.session.timeZone": "UTC",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    }


def write_project(folder: Path, file: Path, memory: int) -> Project:
    """Write the dbt project around the Parquet file."""
    output = {
        "type": "spark",
        "method": "session",
        "host": "NA",
        "schema": "scale",
        "threads": 1,
        "server_side_parameters": parameters(folder.parent, memory),
    }
    project = {
        "name": "scale",
        "version": "1.0",
        "profile": "scale",
        "flags": {"send_anonymous_usage_stats": False},
        "dispatch": [{"macro_namespace": "dbt", "search_order": ["scale", "dbt_anonymize", "dbt"]}],
        "seeds": {"+file_format": "parquet"},
        "models": {"+file_format": "parquet"},
        "vars": {
            "dbt_anonymize_python": False,
            "dbt_anonymize_vault_location": str(folder.parent / "vault"),
        },
    }
    census = f"{{{{ config(materialized='view') }}}}\nselect * from parquet.`{file}`"
    texts = {
        "dbt_project.yml": yaml.safe_dump(project),
        "packages.yml": yaml.safe_dump({"packages": [{"local": "package"}]}),
        "profiles.yml": yaml.safe_dump({"scale": {"target": "t", "outputs": {"t": output}}}),
        "models/census.sql": census,
        "anonymizations/people.yml": yaml.safe_dump(spec(), sort_keys=False),
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


def dbt(folder: Path, meter: Meter, floor: dict[str, float], *arguments: str) -> None:
    """Build what is selected, and print what each node took."""
    if errors := run_dbt(folder, meter, floor, *arguments):
        sys.exit(errors)


def copied(meter: Meter, name: str, select: str) -> float:
    """Write rows into a table, in the session that dbt has started; return the CPU seconds."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    session = SparkSession.builder.getOrCreate()
    meter.start()
    session.sql(f"create table scale.copied using parquet as {select}")
    cpu = meter.show(name)
    session.sql("drop table scale.copied")
    return cpu


def floors(file: Path, meter: Meter) -> dict[str, float]:
    """Run what has no privacy in it; CPU seconds by the relation that they are the floor of."""
    rows, columns = f"parquet.`{file}`", ", ".join((*NAMES, "illness"))
    grouped = f"select {columns}, count(*) as records from {rows} group by {columns}"  # noqa: S608
    # Once before: the first query of a session takes seconds by itself.
    copied(meter, "(the first query)", f"select * from {rows} limit 1")  # noqa: S608
    return {
        "microdata": copied(meter, "floor: copy", f"select * from {rows}"),  # noqa: S608
        "frequencies": copied(meter, "floor: group by", grouped),
    }


def evaluate(folder: Path) -> None:
    """Train the models on a sample, as ``dbt-anonymize evaluate`` does."""
    from dbt_anonymize.cli import app  # noqa: PLC0415

    os.environ["DBT_PROFILES_DIR"] = str(folder)
    app(["evaluate", "people", "--project-dir", str(folder)], standalone_mode=False)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=6, help="heap of Spark in GB (default 6)")
    given = parser.parse_args()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    meter = Meter(with_children=True)
    print(f"{given.rows:,} records, Spark on two cores, {given.memory} GB of heap")
    print_heads()
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "people.parquet"
        with metered(meter, "(writing the Parquet file)"):
            write_people(file, given.rows)
        folder = write_project(Path(name) / "project", file, given.memory).folder
        os.chdir(folder)
        dbt(folder, meter, {}, "--select", "census", "resource_type:seed")
        floor = floors(file, meter)
        without = ("--exclude", "resource_type:seed", f"{EVALUATION}+")
        dbt(folder, meter, floor, "--select", "people", *without)
        with metered(meter, EVALUATION):
            evaluate(folder)
        dbt(folder, meter, floor, "--select", f"{EVALUATION}+")
        released = "select * from scale_release.people_anonymized"
        copied(meter, "floor of the release: its copy", released)
        print(f"peak of this process and Java: {meter.peak / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
