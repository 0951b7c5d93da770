"""Fixtures of the tests of the evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dbt_anonymize.evaluation import run as evaluator


class Log:
    """Collects what would be written to dbt's log."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.warnings: list[str] = []

    def info(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)

    def warning(self, line: str) -> None:
        """Keep a warning."""
        self.warnings.append(line)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an empty database that does not keep the order of rows by itself."""
    with duckdb.connect(config={"threads": 1}) as opened:
        opened.execute("set preserve_insertion_order = false")
        yield opened.cursor()


@pytest.fixture(autouse=True)
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """Keep the log of dbt out of the output of the tests, and give it to those that read it."""
    found = Log()
    monkeypatch.setattr(evaluator, "dbt_logger", lambda: found)
    return found


@pytest.fixture(autouse=True)
def _one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", "1")
