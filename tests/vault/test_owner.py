"""A vault belongs to one project and target: another one is refused before anything is written."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.conftest import command
from tests.extensions import has
from tests.projects import Project
from tests.second_month.customers import frozen_copy

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(group="builds")]

OWNER = "vault.main.dbt_anonymize_owner"
SEED = "seeds/customers.csv"
PEOPLE = "select count(*) from vault.main.customers"


def with_prod(project: Project, **more: Any) -> None:
    """Give the profile a target with a warehouse of its own, and the same vault."""
    path = project.folder / "profiles.yml"
    profile = yaml.safe_load(path.read_text("utf-8"))
    outputs = profile["shop"]["outputs"]
    outputs["prod"] = {**outputs["dev"], "path": "warehouse/prod.duckdb", **more}
    path.write_text(yaml.safe_dump(profile), encoding="utf-8")


def fewer(project: Project) -> None:
    """Leave one of two people out, as a developer does."""
    project.edit(SEED, lambda text: "".join(text.splitlines(keepends=True)[::2]))


def test_another_target_is_refused_before_a_seed_takes_people_away(members: Project) -> None:
    with_prod(members)
    fewer(members)
    before = members.query(PEOPLE), members.query(f"from {OWNER} order by all")
    assert before[1] == [
        ("shop", "dev", "members", "customers"),
        ("shop", "dev", None, None),
    ]
    refused = members.dbt("seed", "--target", "prod")
    assert not refused.succeeded
    said = " ".join(refused.messages.split())
    assert "is of project shop, target dev, and this is project shop, target prod" in said
    assert "`dbt-anonymize vault adopt --target prod`" in said
    assert (members.query(PEOPLE), members.query(f"from {OWNER} order by all")) == before
    # What lies elsewhere is nobody's business.
    assert members.dbt("seed", "--target", "prod", "-s", "customers_hierarchy_zip").succeeded
    if has("installation"):
        told = " ".join(command(members, "doctor", "--target", "prod").stdout.split())
        assert "belongs to project shop, target dev; this is project shop, target prod." in told
        assert "owner of the vault: project shop, target dev" in command(members, "doctor").stdout

    asked = command(members, "vault", "adopt", "--target", "prod")
    assert asked.exit_code == 2, asked.output
    assert members.query(f"from {OWNER} order by all") == before[1]
    adopted = command(members, "vault", "adopt", "--target", "prod", "--yes")
    assert adopted.exit_code == 0, adopted.output
    assert "of project shop, target dev; becomes that of project shop, target prod" in (
        " ".join(adopted.stdout.split())
    )
    again = command(members, "vault", "adopt", "--target", "prod", "--yes")
    assert "Nothing to change." in again.stdout
    assert members.dbt("seed", "--target", "prod", "-s", "customers").succeeded
    assert members.query(PEOPLE) != before[0]
    former = members.dbt("run", "-s", "members_anonymized")
    assert not former.succeeded
    assert "target prod, and this is project shop, target dev" in former.messages


def test_another_project_and_another_source_are_refused(members: Project) -> None:
    members.execute(f"update {OWNER} set project = 'bank'")
    refused = members.dbt("run", "-s", "members_identifiers")
    assert not refused.succeeded
    assert "is of project bank, target dev" in refused.messages
    members.execute(f"update {OWNER} set project = 'shop'")
    members.execute(f"update {OWNER} set source = 'clients' where source is not null")
    refused = members.dbt("run", "-s", "members_identifiers")
    assert not refused.succeeded
    assert "remembers of members is of clients, and its spec names customers" in refused.messages
    # A seed that lies there is of no anonymization.
    assert members.dbt("seed", "-s", "customers").succeeded
    adopted = command(members, "vault", "adopt", "--yes")
    assert adopted.exit_code == 0, adopted.output
    assert ("shop", "dev", "members", "customers") in members.query(f"from {OWNER}")


def test_a_vault_without_memory_is_of_whose_register_has_its_last_release(
    members: Project, tmp_path: Path
) -> None:
    with_prod(members)
    members.execute(f"drop table {OWNER}")
    refused = members.dbt("seed", "--target", "prod", "-s", "customers")
    assert not refused.succeeded
    said = " ".join(refused.messages.split())
    assert "does not say to which, and members in it cannot be told to be of this one" in said
    assert not members.query(
        "select 1 from duckdb_tables() where table_name = 'dbt_anonymize_owner'"
    )
    # The last release that it remembers is of another one.
    other = members.copy(tmp_path / "other")
    other.execute(
        "insert into vault.members_releases select 2, now()::timestamp, record_key, null "
        "from vault.members_releases limit 1"
    )
    refused = other.dbt("seed", "-s", "customers")
    assert not refused.succeeded
    assert "cannot be told to be of this one" in refused.messages
    assert members.dbt("seed", "-s", "customers").succeeded
    assert members.query(f"from {OWNER}") == [("shop", "dev", None, None)]


@pytest.mark.needs("second_month")
def test_a_deferred_release_writes_into_no_vault_of_another_target(
    built_consumer: Project, tmp_path: Path
) -> None:
    """New records of a frozen effort wait in the vault, beside the plan that production made."""
    project = frozen_copy(built_consumer, tmp_path / "project")
    assert project.dbt("parse").succeeded
    shutil.copytree(project.folder / "target", project.folder / "state")
    with_prod(project, path="warehouse/shop.duckdb", schema="prod")
    before = project.query("from vault.customers_members order by all")
    deferred = ("--defer", "--state", "state", "-s", "customers_anonymized")
    refused = project.dbt("run", "--target", "prod", *deferred)
    assert not refused.succeeded
    said = " ".join(refused.messages.split())
    assert 'leads to "vault"."main"."customers_membership" of another one' in said
    assert "Build customers_membership for this target too." in said
    assert project.query("from vault.customers_members order by all") == before
