"""A whole anonymization on Postgres, without Python models: what DuckDB finds, Postgres finds."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.postgres.compared import assert_same
from tests.postgres.server import Server
from tests.projects import Project

# Every relation but the history, which is of more runs.
RELATIONS = (
    *("microdata", "frequencies", "classes", "effort_0", "effort_1", "effort_2", "effort_3"),
    *("privacy", "information_loss", "risk_profile", "quasi_identifier_risk", "evaluation"),
    *("scores", "quality", "curves", "calibration", "confusion", "alpha_ranges"),
)


@dataclass(frozen=True)
class OnPostgres:
    """The stranger's project there, and what its commands printed."""

    project: Project
    on_duckdb: Project
    server: Server
    evaluated: Result


def on_postgres(project: Project, folder: Path, server: Server, **variables: Any) -> Project:
    """Copy a project for Postgres, its people seeded into the vault."""
    copy = project.copy(folder)
    for place in ("target", "vault", "warehouse", "release"):
        shutil.rmtree(folder / place, ignore_errors=True)
    profile = {"shop": {"target": "dev", "outputs": {"dev": server.output(server.builder)}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    settings = {
        "vars": {"dbt_anonymize_python": False, **variables},
        "seeds": {"shop": {"customers": {"+schema": "vault"}}},
        "models": {
            "shop": {
                "customers": {"customers_anonymized": {"+grants": {"select": [server.analyst]}}}
            }
        },
    }
    copy.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(settings))
    generate(folder)
    return copy


@pytest.fixture(scope="module")
def built(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> OnPostgres:
    folder = tmp_path_factory.mktemp("on_postgres") / "project"
    project = on_postgres(built_consumer, folder, server)
    for arguments in (["seed"], ["run", "--exclude", "customers_evaluation+"]):
        outcome = project.dbt(*arguments)
        assert outcome.succeeded, outcome.messages
    evaluated = command(project, "evaluate", "customers")
    assert evaluated.exit_code == 0, evaluated.output
    outcome = project.dbt("run", "-s", "customers_evaluation+")
    assert outcome.succeeded, outcome.messages
    return OnPostgres(project, built_consumer, server, evaluated)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_is_that_of_duckdb(built: OnPostgres, name: str) -> None:
    there = built.on_duckdb.query(f"select * from customers_{name}")
    assert_same(built.server.query(f"select * from shop.customers_{name}"), there, name)


def test_the_same_effort_is_chosen(built: OnPostgres) -> None:
    columns = "effort, is_chosen, qualifies, k, q, qf_mean, qf_low, qnf, reason, fingerprint"
    there = built.on_duckdb.query(f"select {columns} from customers_results")
    assert_same(
        built.server.query(f"select {columns} from shop.customers_results"), there, "results"
    )
    chosen = built.server.query("select effort from shop.customers_results where is_chosen")
    assert len(chosen) == 1


def test_the_release_is_that_of_duckdb_and_analysts_read_it(built: OnPostgres) -> None:
    server = built.server
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    rows = server.query("select * from shop_release.customers_anonymized", server.analyst)
    assert_same(rows, built.on_duckdb.release("customers"), "anonymized")
    for vaulted in ("customers", "customers_identifiers"):
        assert server.refuses(f"select 1 from shop_vault.{vaulted}", server.analyst)
