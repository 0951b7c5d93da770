"""Refusals have messages that show names and obey nothing."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.literals import printable
from dbt_anonymize.spec import load_specs
from tests.projects import Project
from tests.spec.declarations import spec, write_project
from tests.sql_safety.commands import OBEYED, invoke, run
from tests.worlds.hostile import NAME, quoted

ESCAPES = "\x1b[31mred\x1b[0m\x07\u202e [bold]bold[/bold] :key: {{ 1/0 }}"


def with_column(name: str) -> dict[str, Any]:
    changed = spec()
    columns = {**changed["columns"], name: {"role": "insensitive"}}
    return spec(columns=columns)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("AGE", "must differ from age in more than upper and lower case"),
        ("Age_Lower", "must not be the name of a column that we add for age"),
        ("records", "must not be one of our own columns"),
        ("Class_Size", "must not be one of our own columns"),
        ("token", "must not be one of our own columns"),
        (" ", "must not be empty"),
        ("a\0b", "must be text that a database can store"),
        ("x" * 256, "must have at most 255 characters"),
    ],
)
def test_a_name_that_would_clash_is_refused_before_anything_runs(
    name: str, says: str, tmp_path: Path
) -> None:
    write_project(tmp_path, with_column(name))
    with pytest.raises(SpecError, match=says):
        load_specs(tmp_path)
    shown = invoke("generate", "--project-dir", str(tmp_path))
    assert shown.exit_code == 2
    assert says in shown.output


def test_errors_of_commands_show_names_and_obey_nothing(tmp_path: Path) -> None:
    changed = with_column(ESCAPES)
    write_project(tmp_path, {**changed, "columns": {**changed["columns"], **twin()}})
    shown = invoke("generate", "--project-dir", str(tmp_path))
    assert shown.exit_code == 2
    assert f"must differ from {printable(ESCAPES)} in more than" in shown.output


def twin() -> dict[str, object]:
    return {ESCAPES.upper(): {"role": "insensitive"}}


@pytest.mark.needs("hierarchy_builders")
def test_hierarchies_are_checked_and_named_without_markup(tmp_path: Path) -> None:
    path = tmp_path / f"tree {ESCAPES.replace('/', '')}.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(
            [["value", "level_1", "level_2"], ["a", ESCAPES, "*"], ["a", ESCAPES, "*"]]
        )
    shown = invoke("hierarchy", "check", str(path))
    assert shown.exit_code == 1
    assert "[bold]" in shown.output
    assert ":key:" in shown.output


@pytest.fixture
def project(plain_project: Project, tmp_path: Path) -> Project:
    return plain_project.copy(tmp_path / "project")


def test_a_hostile_undeclared_column_stops_the_build_with_its_name(project: Project) -> None:
    vault = project.folder / "vault" / "vault.duckdb"
    with duckdb.connect(str(vault)) as connection:
        connection.execute(f"alter table {NAME} add column {quoted(ESCAPES)} integer")
    outcome = project.dbt("run", "--select", f"{NAME}_microdata")
    assert not outcome.succeeded
    assert "every column of the source needs a declared role" in outcome.messages
    assert printable(ESCAPES) in outcome.messages
    assert not any(character in outcome.messages for character in OBEYED)


def test_results_show_what_the_warehouse_holds_as_it_is(project: Project) -> None:
    project.execute(f"update {NAME}_results set reason = 'chosen: ' || {quoted(ESCAPES, chr(39))}")
    project.edit(
        f"anonymizations/{NAME}.yml",
        lambda text: text.replace("description: A table.", 'description: "\\e[2J [red]x[/red]"'),
    )
    shown = run(project, "results").output
    assert printable(ESCAPES) in shown
    assert "\\x1b[2J [red]x[/red]" in shown


@pytest.mark.parametrize(
    ("leaf", "label"),
    [
        pytest.param("*", "region a", id="a value that is the root"),
        pytest.param("city a", "*", id="the root in the middle"),
        pytest.param("city a", "", id="an empty label"),
    ],
)
def test_a_label_that_would_join_classes_stops_the_build(
    project: Project, leaf: str, label: str
) -> None:
    seed = "seeds/tree_city.csv"
    project.edit(
        seed,
        lambda text: text.replace(
            '"city a","region a"', f'"{leaf}","{label}"' if label else f'"{leaf}",'
        ),
    )
    vault = project.folder / "vault" / "vault.duckdb"
    with duckdb.connect(str(vault)) as connection:
        connection.execute(f"update {NAME} set city = ? where city = 'city a'", [leaf])
    outcome = project.dbt(
        "build", "--exclude-resource-type", "test", "--select", "tree_city", f"{NAME}_microdata"
    )
    assert not outcome.succeeded, outcome.messages
    assert "hierarchy of city" in outcome.messages or "tree_city" in outcome.messages
