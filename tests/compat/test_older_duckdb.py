"""A release opens with a DuckDB two versions older: `make compat` installs that beside .venv."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.release.publish import STORAGE_VERSION, publish
from tests.projects import REPOSITORY, Project
from tests.release.test_copies import HOSTILE

OLDER = REPOSITORY / ".venv-duckdb-1.4"
# A process of its own: one cannot import two versions.
READ = """
import sys
sys.path.insert(0, sys.argv[1])
import duckdb
session = duckdb.connect()
session.execute(f"attach '{sys.argv[2]}' as released (read_only)")
rows = session.execute(f'from released."{sys.argv[3]}"').fetchall()
print(duckdb.__version__, rows)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (OLDER / ".ready").exists(), reason="NOT TESTED: DuckDB 1.4. Run `make compat`."
    ),
]


def read_with_older(file: Path, table: str) -> str:
    """Return version and rows that an older DuckDB reads."""
    command = [sys.executable, "-c", READ, str(OLDER), str(file), table]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip()


def read(file: Path, table: str) -> str:
    """Return the rows that the DuckDB of this process reads."""
    with duckdb.connect(str(file), read_only=True) as session:
        return str(session.execute(f'from "{table}"').fetchall())


def assert_older_reads_the_same(file: Path, table: str) -> None:
    version, rows = read_with_older(file, table).split(" ", 1)
    assert f"v{version}".rsplit(".", 1)[0] == STORAGE_VERSION.rsplit(".", 1)[0]
    assert rows == read(file, table) != "[]"


def test_an_older_duckdb_reads_a_built_release(built_consumer: Project) -> None:
    assert_older_reads_the_same(built_consumer.release_file("customers"), "customers_anonymized")


def test_an_older_duckdb_reads_every_kind_of_value(tmp_path: Path) -> None:
    table, path = "people_anonymized", "release/people.duckdb"
    more = "timestamp '2020-01-31 12:00:00.123456' as at, 1.50::decimal(18, 2) as paid"
    with duckdb.connect() as session:
        session.execute(f"create table new as select *, {more} from ({HOSTILE})")
        publish(session, relation="new", table=table, folder=str(tmp_path), path=path)
    assert_older_reads_the_same(tmp_path / path, table)


def test_an_older_duckdb_cannot_read_what_newer_ones_write_by_themselves(tmp_path: Path) -> None:
    file = tmp_path / "newest.duckdb"
    with duckdb.connect() as session:
        session.execute(f"attach '{file}' as newest (storage_version 'latest')")
        session.execute("create table newest.numbers as from range(3)")
    with pytest.raises(subprocess.CalledProcessError):
        read_with_older(file, "numbers")
