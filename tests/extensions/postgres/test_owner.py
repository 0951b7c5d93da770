"""A schema of a vault on Postgres belongs to one target, and only custodians read to which."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server
from tests.projects import copy_consumer

pytestmark = [pytest.mark.slow, pytest.mark.dbt]

OWNER = "shop_vault.dbt_anonymize_owner"
PEOPLE = ("seed", "-s", "path:seeds/customers.csv")


def test_two_targets_of_one_schema_share_no_vault(server: Server, tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    (project.folder / "models" / "unit_tests.yml").unlink()
    connect(project, server, prod="shop")
    settings = {
        "vars": {"dbt_anonymize_python": False},
        "seeds": {"shop": {"customers": {"+schema": "vault"}}},
    }
    project.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(settings))
    generate(project.folder)
    for _ in range(2):
        outcome = project.dbt(*PEOPLE)
        assert outcome.succeeded, outcome.messages
        assert server.query(f"select * from {OWNER}") == [("shop", "dev", None, None)]
    refused = project.dbt(*PEOPLE, "--target", "prod")
    assert not refused.succeeded
    assert "is of project shop, target dev" in refused.messages
    adopted = command(project, "vault", "adopt", "--target", "prod", "--yes")
    assert adopted.exit_code == 0, adopted.output
    assert sorted(server.query(f"select * from {OWNER}"), key=str) == [
        ("shop", "prod", "customers", "customers"),
        ("shop", "prod", None, None),
    ]
    assert server.refuses(f"select 1 from {OWNER}", server.analyst)
    assert project.dbt(*PEOPLE, "--target", "prod").succeeded
