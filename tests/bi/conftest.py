"""A Superset, and releases that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.bi.superset import NOT_TESTED, PROGRAM, Superset, superset
from tests.projects import run_command


@dataclass(frozen=True)
class Clinic:
    """The project that `dbt-anonymize new` starts, with a child and people over a hundred."""

    folder: Path

    @property
    def file(self) -> Path:
        """The release."""
        return self.folder / "release" / "dev" / "patients.duckdb"

    def add_patients(self, first: int, age: int, number: int) -> None:
        """Let people of one age come, every third of them ill."""
        with (self.folder / "seeds" / "patients.csv").open("a", encoding="utf-8") as file:
            for patient in range(first, first + number):
                diagnosis = "well" if patient % 3 else "ill"
                file.write(f"{patient},New {patient},{age},04103,no,{diagnosis}\n")

    def build(self) -> None:
        """Build and publish, as a process of its own."""
        run_command("dbt build --quiet --exclude resource_type:test", self.folder)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what DuckDB finds in the release."""
        with duckdb.connect(str(self.file), read_only=True) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture(scope="session")
def clinic(reader: Superset, tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    found = Clinic(tmp_path_factory.mktemp("bi") / "clinic")
    found.folder.mkdir()
    run_command("dbt-anonymize new --yes", found.folder)
    spec = found.folder / "anonymizations" / "patients.yml"
    content = yaml.safe_load(spec.read_text(encoding="utf-8"))
    # The labels of the first effort, by 5 years, sort otherwise as text.
    content["release"] = {"effort": 1, "midpoints": True, "about": {"licence": "CC BY 4.0"}}
    spec.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    found.add_patients(10_001, 7, 9)
    found.add_patients(10_101, 102, 9)
    run_command("dbt-anonymize generate -q", found.folder)
    found.build()
    return found


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Superset]:
    if not PROGRAM.with_name("superset").exists() or not (PROGRAM.parents[1] / ".ready").exists():
        pytest.skip(NOT_TESTED)
    with superset(tmp_path_factory.mktemp("superset")) as found:
        yield found
