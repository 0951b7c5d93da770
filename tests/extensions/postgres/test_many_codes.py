"""A hierarchy of 100,000 codes is a model of the warehouse; what is joined with it is analyzed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server
from tests.projects import Project
from tests.worlds.codes import CODES, EFFORTS, HIERARCHY, NAME, K, class_sizes, write

pytestmark = [pytest.mark.slow, pytest.mark.dbt]

# Each model keeps whether it loops over rows to join them, and the classes keep their plan.
_KEPT = """
create schema kept;
create table kept.settings (model text, has_loops boolean);
create table kept.plan (line text);
create function kept.plan_of(query text) returns setof text language plpgsql as
$$ begin return query execute 'explain ' || query; end $$;
"""
_SETTINGS = (
    "insert into kept.settings select '{{ this.identifier }}',"
    " current_setting('enable_nestloop') = 'on'"
)
_PLAN = "insert into kept.plan select kept.plan_of($plan${{ model.compiled_code }}$plan$)"


def written(folder: Path, server: Server, **settings: Any) -> Project:
    project = write(folder, "table")
    connect(project, server)
    more = {"vars": {"dbt_anonymize_python": False}, **settings}
    project.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(more))
    generate(folder)
    return project


def test_a_model_of_many_codes_is_a_hierarchy(server: Server, tmp_path: Path) -> None:
    """As on DuckDB: `tests/end_to_end/test_many_codes.py` has views, a search and all checks."""
    project = written(tmp_path / "project", server)
    built = command(project, "build", NAME)
    assert built.exit_code == 0, built.output
    ((effort,),) = server.query(f"select effort from shop.{NAME}_results where is_chosen")
    released = Counter(
        code for (code,) in server.query(f"select code from shop_release.{NAME}_anonymized")
    )
    assert released == class_sizes(EFFORTS[effort - 1]["code"])
    assert min(released.values()) >= K
    checks = [part for name in ("recomputation", "guarantees") for part in ("--check", name)]
    verified = command(project, "verify", NAME, *checks)
    assert verified.exit_code == 0, verified.output
    # A code that is missing stops the build.
    project.edit(f"models/{HIERARCHY}.sql", lambda text: text.replace(f"{CODES - 1}", "99000"))
    stopped = project.dbt("run", "--select", f"+{NAME}_microdata")
    assert not stopped.succeeded
    assert "the hierarchy of code does not cover the column" in stopped.messages


def test_classes_are_joined_by_hash_tables_of_the_size_they_need(
    server: Server, tmp_path: Path
) -> None:
    """Tables of a join have statistics: no loop over rows, and no other guess."""
    server.query(_KEPT)
    hooks: dict[str, Any] = {"+post-hook": [_SETTINGS], f"{NAME}_classes": {"+post-hook": [_PLAN]}}
    project = written(tmp_path / "project", server, models={"shop": {NAME: hooks}})
    # One connection for all.
    selected = [f"+{NAME}_{part}" for part in ("information_loss", "privacy", "risk_profile")]
    outcome = project.dbt("run", "--threads", "1", "-s", *selected)
    assert outcome.succeeded, outcome.messages
    found = dict(server.query("select model, has_loops from kept.settings"))
    assert {name for name, has_loops in found.items() if not has_loops} == {
        f"{NAME}_classes",
        f"{NAME}_information_loss",
    }
    assert {f"{NAME}_{part}" for part in ("microdata", "frequencies", "privacy")} <= found.keys()
    plan = "\n".join(line for (line,) in server.query("select line from kept.plan"))
    assert plan.count("Seq Scan on dbt_anonymize_") >= 2
    assert " Join" in plan
    # A loop that compares has a filter; that over the one row of a table has none.
    for costly in ("Merge ", "Join Filter", "JIT:"):
        assert costly not in plan, plan
    assert max(int(rows) for rows in re.findall(r" rows=(\d+)", plan)) < 10 * CODES, plan
