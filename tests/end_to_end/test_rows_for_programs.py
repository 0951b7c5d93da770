"""`--format json` and `--format csv`: rows alone on standard output, the same in both."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from dbt_anonymize.relations import EXACT_VALUES
from tests.cli.conftest import run
from tests.projects import Project

COMMANDS = {
    "results": ["results", "customers"],
    "profile": ["profile", "customers", "-k", "3"],
    "search": ["search", "customers", "--dry-run", "--efforts", "3"],
    "local search": ["search", "customers", "--dry-run", "--recoding", "local", "--efforts", "2"],
    "verify": ["verify", "customers", "--check", "guarantees", "--check", "recomputation"],
    "epsilon": ["epsilon", "0.5", "1", "--delta", "0.001"],
}
NEEDS = {
    "profile": "class_sizes",
    "search": "search",
    "local search": "search",
    "epsilon": "differential_privacy",
}
_KNOWN: dict[str, list[dict[str, Any]]] = {}


def rows(project: Project, name: str) -> list[dict[str, Any]]:
    """Return the rows that a command prints as JSON, asked once."""
    if name not in _KNOWN:
        result = _run(project, name, "json")
        _KNOWN[name] = [json.loads(line) for line in result.splitlines()]
    return _KNOWN[name]


def _run(project: Project, name: str, form: str) -> str:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    where = [] if name == "epsilon" else ["--project-dir", project.folder]
    result = run(*COMMANDS[name], "--format", form, *where)
    DuckDBConnectionManager.close_all_connections()
    assert result.exit_code == 0, result.output
    return str(result.stdout)


@pytest.fixture
def shop(built_consumer: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    return built_consumer


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.needs(NEEDS[name])] if name in NEEDS else [])
        for name in COMMANDS
    ],
)
def test_csv_has_the_rows_of_json(shop: Project, name: str) -> None:
    told = rows(shop, name)
    assert told
    read = list(csv.DictReader(io.StringIO(_run(shop, name, "csv"))))
    assert read == [
        {column: "" if value is None else str(value) for column, value in row.items()}
        for row in told
    ]


def test_results_are_those_of_the_relation(shop: Project) -> None:
    found = shop.query("select effort, q, is_chosen from main.customers_results order by effort")
    assert [(r["effort"], r["q"], r["is_chosen"]) for r in rows(shop, "results")] == found


@pytest.mark.needs("class_sizes")
def test_a_profile_has_the_shares_of_the_classes(shop: Project) -> None:
    for row in rows(shop, "profile"):
        ((share,),) = shop.query(
            "select coalesce(sum(class_size) filter (where class_size < 3), 0) / sum(class_size)"
            f" from main.customers_classes where effort = {row['effort']}"
        )
        assert row["share_below"] == row["share_low"] == pytest.approx(float(share))


@pytest.mark.needs("search")
def test_a_search_has_its_efforts_and_its_front(shop: Project) -> None:
    found = rows(shop, "search")
    efforts = [row for row in found if row["kind"] == "effort"]
    assert [row["effort"] for row in efforts] == [1, 2, 3]
    assert all(row["k"] >= row["required_k"] >= 4 for row in efforts)
    front = [row for row in found if row["kind"] == "front"]
    losses = [(row["k"], row["value"]) for row in front]
    assert losses == sorted(losses)
    assert {row["levels"] for row in efforts} <= {row["levels"] for row in front}
    assert all("rounds: " in r["levels"] for r in rows(shop, "local search") if r["effort"])


def test_findings_are_told_from_each_other(shop: Project) -> None:
    assert {row["check"] for row in rows(shop, "verify")} == {"guarantees", "recomputation"}
    measured = {row["subject"] for row in rows(shop, "verify") if row["holds"] is None}
    assert measured == {EXACT_VALUES}
    assert all(row["holds"] is not False for row in rows(shop, "verify"))


@pytest.mark.needs("differential_privacy")
def test_sizes_are_numbers(shop: Project) -> None:
    sizes = rows(shop, "epsilon")
    assert [row["epsilon"] for row in sizes] == [0.5] * 4 + [1.0] * 4
    assert all(row["people"] == row["k"] / row["beta"] for row in sizes)
