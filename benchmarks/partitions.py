"""Cost of the next month with `partition_by`, and without.

usage: python benchmarks/partitions.py [--rows ROWS] [--months MONTHS] [--memory GB]
       [--threads THREADS]

The people of `scale.py`, one month after the other by their number, in a folder of Parquet files
with a folder per month. All but the last month are built, then the last one is added; microdata and
frequencies are built both times. CPU seconds are those of this process.
"""

# ruff: noqa: S608 (names are our own)

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from benchmarks import scale  # noqa: E402 (found by the line above)
from dbt_anonymize.project.generate import generate  # noqa: E402
from tests.projects import Project  # noqa: E402


def write_months(file: Path, lake: Path, months: int) -> None:
    """Split the people into months of the same size."""
    with duckdb.connect() as connection:
        ((rows,),) = connection.execute(f"select count(*) from '{file}'").fetchall()
        for month in range(1, months + 1):
            folder = lake / f"month=2026-{month:02}"
            folder.mkdir(parents=True)
            lower, upper = rows * (month - 1) // months, rows * month // months
            connection.execute(
                f"copy (select * from '{file}' where {scale.PERSON} >= {lower} "
                f"and {scale.PERSON} < {upper}) to '{folder}/people.parquet' (format parquet)"
            )


def declare(project: Project, lake: Path, *, partitioned: bool) -> None:
    """Give the source its months, and the spec its partitions."""
    source = f"select * from read_parquet('{lake}/*/*.parquet', hive_partitioning = true)"
    (project.folder / "models" / "census.sql").write_text(source, encoding="utf-8")
    spec = scale.spec()
    spec["columns"]["month"] = {"role": "dropped"}
    if partitioned:
        spec["partition_by"] = "month"
    text = yaml.safe_dump(spec, sort_keys=False)
    (project.folder / "anonymizations" / "people.yml").write_text(text, encoding="utf-8")
    generate(project.folder)


def build(project: Project, meter: scale.Meter) -> None:
    """Build what reads the records, and print what each relation took."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager  # noqa: PLC0415
    from dbt.cli.main import dbtRunner  # noqa: PLC0415

    total = scale.Meter()

    def watch(event: Any) -> None:
        if event.info.name == "NodeStart":
            meter.start()
        elif event.info.name == "NodeFinished":
            name = event.data.node_info.node_name
            if name.startswith("people_"):
                meter.show(f"  {name.removeprefix('people_')}")

    folder = str(project.folder)
    total.start()
    os.chdir(project.folder)
    result = dbtRunner(callbacks=[watch]).invoke(
        ["run", "--quiet", "--select", "+people_frequencies", "--profiles-dir", folder,
         "--project-dir", folder]
    )  # fmt: skip
    DuckDBConnectionManager.close_all_connections()
    if not result.success:
        sys.exit(str(result.exception or "the build failed"))
    total.show("  all")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--memory", type=int, default=8, help="limit of DuckDB in GB (default 8)")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    settings = {"threads": given.threads, "memory_limit": f"{given.memory}GB"}
    print(
        f"{given.rows:,} records in {given.months} months, DuckDB {duckdb.__version__}, {settings}"
    )
    scale.print_heads()
    meter = scale.Meter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "people.parquet"
        scale.write_people(file, given.rows)
        for partitioned in (False, True):
            lake = Path(folder) / f"lake_{partitioned}"
            write_months(file, lake, given.months)
            last = lake / f"month=2026-{given.months:02}"
            away = Path(folder) / f"later_{partitioned}"
            last.rename(away)
            project = scale.write_project(Path(folder) / f"project_{partitioned}", file, settings)
            declare(project, lake, partitioned=partitioned)
            assert project.dbt("seed", "--quiet").succeeded
            kind = "partition_by" if partitioned else "without"
            print(f"{kind}, {given.months - 1} months")
            build(project, meter)
            away.rename(last)
            print(f"{kind}, the next month")
            build(project, meter)


if __name__ == "__main__":
    main()
