"""Whether a build of many records succeeds with little memory, and what it leaves if it does not.

usage: python benchmarks/faults.py [RECORDS [MEMORY_LIMIT]]

Builds the test project with random customers, in a process of its own, with DuckDB's
``memory_limit``; prints seconds, the largest memory of the process, and the outcome.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from benchmarks.relations import CUSTOMERS  # noqa: E402 (found by the line above)
from dbt_anonymize.generate import generate  # noqa: E402
from tests.projects import Project, copy_consumer  # noqa: E402

LONGEST_MESSAGE = 2_000
# Records that each model is trained on: the kernel's memory is not what is measured here.
TRAINED = 100_000


def main(records: int, memory_limit: str) -> None:
    """Build once, and print what happened."""
    with tempfile.TemporaryDirectory() as folder:
        project = copy_consumer(Path(folder) / "project")
        prepare(project, records, memory_limit)
        started = time.perf_counter()
        build = subprocess.run(  # noqa: S603
            [Path(sys.executable).with_name("dbt"), "build", "--profiles-dir", "."],
            cwd=project.folder,
            env={**os.environ, "DBT_USE_COLORS": "0", "DBT_QUIET": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
        print(f"{records:,} records, memory_limit {memory_limit}: ", end="")
        print(
            f"{'success' if build.returncode == 0 else 'failure'} after {seconds:.0f} s, ", end=""
        )
        print(f"largest memory {memory:.2f} GB")
        print(build.stdout[-LONGEST_MESSAGE:])
        release = project.folder / "release" / "dev"
        for file in sorted(release.iterdir()) if release.exists() else []:
            print(f"{file.name}: {file.stat().st_size / 1024**2:.0f} MB")


def prepare(project: Project, records: int, memory_limit: str) -> None:
    """Put random customers into the vault, in place of the seed, and limit the memory."""
    (project.folder / "seeds" / "customers.csv").unlink()
    (project.folder / "models" / "unit_tests.yml").unlink()
    project.edit(
        "seeds/_seeds.yml",
        lambda text: "seeds:\n" + text[text.index("  - name: customers_hierarchy_birth_date") :],
    )
    (project.folder / "models" / "customers.sql").write_text(
        "{{ config(materialized='view', database='vault') }} select * from vault.main.people\n",
        encoding="utf-8",
    )
    project.edit(
        "profiles.yml",
        lambda text: text.replace(
            "      threads: 2\n",
            f"      threads: 2\n      settings: {{memory_limit: {memory_limit}}}\n",
        ),
    )
    project.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace("repetitions: 5", f"repetitions: 2\n  sample: {TRAINED}"),
    )
    generate(project.folder)
    with duckdb.connect(str(project.folder / "vault" / "vault.duckdb")) as vault:
        people = CUSTOMERS.format(rows=records).replace("table customers", "table people")
        vault.execute(people)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000,
        sys.argv[2] if len(sys.argv) > 2 else "1GB",
    )
