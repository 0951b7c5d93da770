"""Builds of many records with little memory: success, or the remains of a failure.

usage: python benchmarks/faults.py [RECORDS [MEMORY_LIMIT]]

Builds the test project with random customers, in a process of its own, with DuckDB's
``memory_limit``, over an earlier release; prints seconds, the largest memory of the process, and
the outcome. Exits with 1 unless the build succeeded, or failed and left the release unchanged.
"""

from __future__ import annotations

import hashlib
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
from dbt_anonymize.project.generate import generate  # noqa: E402
from tests.projects import Project, copy_consumer  # noqa: E402

LONGEST_MESSAGE = 2_000
# Records that each model is trained on: the kernel's memory is not what is measured here.
TRAINED = 100_000
# Records of the release that is there before.
EARLIER = 20_000


def main(records: int, memory_limit: str) -> int:
    """Build few records as they should be, then many with little memory; return 0 if all is well.

    A build that fails is all right if it leaves the earlier release as it was, and nothing beside
    it; one that succeeds must have published another release.
    """
    with tempfile.TemporaryDirectory() as folder:
        project = copy_consumer(Path(folder) / "project")
        prepare(project)
        write_people(project, EARLIER)
        build, _ = run_build(project)
        if build.returncode != 0:
            print(f"the earlier release could not be built:\n{build.stdout[-LONGEST_MESSAGE:]}")
            return 1
        earlier = release_of(project)
        write_people(project, records)
        limit_memory(project, memory_limit)
        build, seconds = run_build(project)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
        outcome = "success" if build.returncode == 0 else f"failure ({build.returncode})"
        print(
            f"{records:,} records, memory_limit {memory_limit}: {outcome} after {seconds:.0f} s, "
        )
        print(f"largest memory {memory:.2f} GB")
        print(build.stdout[-LONGEST_MESSAGE:])
        found = release_of(project)
        is_unchanged = found == earlier
        print(f"release: {'the earlier one' if is_unchanged else ', '.join(found)}")
        names_are_kept = found.keys() == earlier.keys()
        return 0 if names_are_kept and is_unchanged == (build.returncode != 0) else 1


def run_build(project: Project) -> tuple[subprocess.CompletedProcess[str], float]:
    """Build in a process of its own; return what it said, and the seconds."""
    started = time.perf_counter()
    build = subprocess.run(  # noqa: S603
        [Path(sys.executable).with_name("dbt"), "build", "--profiles-dir", "."],
        cwd=project.folder,
        env={**os.environ, "DBT_USE_COLORS": "0", "DBT_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return build, time.perf_counter() - started


def release_of(project: Project) -> dict[str, str]:
    """Return the files in the folder of the release, with a hash of their bytes."""
    found = {}
    for file in sorted((project.folder / "release" / "dev").iterdir()):
        with file.open("rb") as content:
            found[file.name] = hashlib.file_digest(content, "sha256").hexdigest()
    return found


def write_people(project: Project, records: int) -> None:
    """Put random customers into the vault."""
    with duckdb.connect(str(project.folder / "vault" / "vault.duckdb")) as vault:
        vault.execute("drop table if exists people")
        vault.execute(CUSTOMERS.format(rows=records).replace("table customers", "table people"))


def limit_memory(project: Project, memory_limit: str) -> None:
    """Let DuckDB use so much memory."""
    project.edit(
        "profiles.yml",
        lambda text: text.replace(
            "      threads: 2\n",
            f"      threads: 2\n      settings: {{memory_limit: {memory_limit}}}\n",
        ),
    )


def prepare(project: Project) -> None:
    """Read customers of the vault in place of the seed."""
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
        "anonymizations/customers.yml",
        lambda text: text.replace("repetitions: 5", f"repetitions: 2\n  sample: {TRAINED}"),
    )
    generate(project.folder)


if __name__ == "__main__":
    sys.exit(
        main(
            int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000,
            sys.argv[2] if len(sys.argv) > 2 else "1GB",
        )
    )
