"""The pages say of engines what the tests ran, and nothing more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engines import matrix
from tests.engines.matrix import IS_WRITING, PAGE, TABLE, check_ran, table, unpinned
from tests.projects import REPOSITORY

ADAPTER = "dbt-duckdb"  # any that is installed


def test_the_page_has_the_table_of_what_ran() -> None:
    path = REPOSITORY / PAGE
    text = path.read_text(encoding="utf-8")
    if IS_WRITING:
        text = TABLE.sub(lambda _: table(), text)
        path.write_text(text, encoding="utf-8")
    assert TABLE.findall(text) == [table()]


def test_what_ran_are_the_versions_that_are_installed() -> None:
    """Whoever pins another one runs the tests there, and writes the matrix."""
    assert unpinned() == []


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a file that says: version 15 ran, with 60 tables and 20 relations."""
    path = tmp_path / "ran.json"
    monkeypatch.setattr(matrix, "FILE", path)
    monkeypatch.setattr(matrix, "IS_WRITING", True)
    for what, number in (("tables", 60), ("relations", 20)):
        check_ran("Shop", "15", ADAPTER, what, number)
    monkeypatch.setattr(matrix, "IS_WRITING", False)
    return path


def _said(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))["Shop"]


def test_the_stated_version_and_number_pass(ran: Path) -> None:
    check_ran("Shop", "15", ADAPTER, "tables", 60)
    assert _said(ran)["compared"] == {"tables": 60, "relations": 20}


def test_another_server_is_told_and_changes_nothing(ran: Path) -> None:
    before = ran.read_text("utf-8")
    with pytest.raises(pytest.skip.Exception, match=r"NOT TESTED: Shop 15, .* here is Shop 16"):
        check_ran("Shop", "16", ADAPTER, "tables", 60)
    assert ran.read_text("utf-8") == before


@pytest.mark.parametrize(("adapter", "number"), [(ADAPTER, 59), ("duckdb", 60)])
def test_another_number_or_adapter_fails(ran: Path, adapter: str, number: int) -> None:
    assert ran.exists()
    with pytest.raises(AssertionError, match="run all tests of Shop with UPDATE_GOLDEN=1"):
        check_ran("Shop", "15", adapter, "tables", number)


def test_what_ran_on_an_earlier_version_is_not_stated_of_the_next(
    ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "IS_WRITING", True)
    check_ran("Shop", "16", ADAPTER, "tables", 60)
    assert (_said(ran)["version"], _said(ran)["compared"]) == ("16", {"tables": 60})
