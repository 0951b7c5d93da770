"""Another name keeps what the vault remembers; what is removed leaves only what was announced."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dbt_anonymize.extensions.custody.erase.unfinished import (
    digest_file,
    is_of_another,
    write_digest,
)
from dbt_anonymize.project.generate import check
from dbt_anonymize.relations import VAULT
from tests.projects import Project
from tests.second_month.customers import Customers, frozen_copy, run
from tests.second_month.half_written import half_written

pytestmark = [pytest.mark.sampled_tests(group="builds"), pytest.mark.dbt]

# Whose the vault is, and what is in it.
REMEMBERED = "select anonymization, source from vault.dbt_anonymize_owner order by all"


def relations(project: Project, name: str) -> set[str]:
    """Return the tables and views that are called after an anonymization."""
    rows = project.query(
        "select table_name from duckdb_tables() where not starts_with(database_name, 'release_') "
        "union all select view_name from duckdb_views()"
    )
    return {row[0] for row in rows if row[0].startswith(f"{name}_")}


def test_a_renamed_anonymization_goes_on(members: Project) -> None:
    members.execute("create table vault.members_relinkings (attempt bigint primary key)")
    tokens = dict(members.query("select person, token from vault.members_tokens"))
    before = members.release("members")
    assert run(members, "rename", "members", "people").exit_code == 2, "nobody could be asked"
    for refused in ("Peo-ple", "_people", "anonymization", "p" * 51):
        # A spec of this name could not be read, and the relations would have it already.
        result = run(members, "rename", "members", refused, "--yes")
        assert result.exit_code == 2, result.output
        assert "must be a name of lower-case letters" in result.output
    members.execute("create table members_sample as select 1 as own")
    # A vault that is elsewhere: the renamed anonymization would begin without memory.
    vault = members.folder / "vault" / "vault.duckdb"
    kept = vault.rename(members.folder / "vault.kept")
    lost = run(members, "rename", "members", "people", "--yes")
    assert lost.exit_code == 2, lost.output
    said = " ".join(lost.output.split())
    assert ".members_identifiers" in said
    assert ".members_tokens are missing. Nothing is renamed" in said
    assert "people is" not in said
    assert (members.folder / "anonymizations" / "members.yml").exists()
    kept.replace(vault)
    # Whose erasure is open stays known.
    write_digest(digest_file(vault, "main", "members"), "her key")
    result = run(members, "rename", "members", "people", "--yes")
    assert result.exit_code == 0, result.output
    (digest,) = vault.parent.glob("*.erasure")
    assert digest == digest_file(vault, "main", "people")
    assert is_of_another(digest, "another")
    assert not is_of_another(digest, "her key")
    digest.unlink()
    assert check(members.folder) == []
    assert members.query(REMEMBERED) == [("people", "customers"), (None, None)]
    assert relations(members, "members") == {"members_sample"}, "is of the project"
    assert {"people_tokens", "people_releases", "people_relinkings"} <= relations(members, "people")
    assert members.query("select distinct name from anonymization_results") == [("people",)]
    assert members.release("people") == before
    assert not list((members.folder / "release").rglob("members*"))
    for command, exit_code in (("verify", 2), ("results", 0)):
        said = run(members, command, "people")
        assert said.exit_code == exit_code, said.output
        assert "people: is not built" in said.output or "people is not built" in said.output
    # Where files have the name already, as for another target, the relations follow.
    again = run(members, "rename", "members", "people", "--yes")
    assert again.exit_code == 0, again.output
    assert "No relation of this target is called after members." in again.output

    members.build()
    assert dict(members.query("select person, token from vault.people_tokens")) == tokens
    assert {row[-1] for row in members.release("people")} == {row[-1] for row in before}
    assert members.query("select max(release) from vault.people_releases") == [(1,)]
    members.execute("create table vault.members_tokens as from vault.people_tokens")
    taken = run(members, "rename", "people", "members", "--yes")
    assert taken.exit_code == 2, taken.output
    assert "vault has members_tokens" in taken.output


@pytest.mark.needs("second_month")
def test_members_of_a_renamed_anonymization_still_hide_who_joins(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = frozen_copy(built_consumer, tmp_path / "project")
    first = project.release("customers")
    result = run(project, "rename", "customers", "clients", "--yes")
    assert result.exit_code == 0, result.output
    ((like,),) = project.query("select min(record_key) from vault.clients_members")
    customers = Customers(project)
    (new,) = customers.join(like, 1)
    assert " records wait to join, 0 to leave and 0 to change" in customers.build()
    waiting = "select state from vault.clients_membership where record_key = "
    assert project.query(f"{waiting}'{new}'") == [("waiting",)]
    assert project.release("clients") == first


def test_what_is_removed_is_what_was_announced(members: Project, tmp_path: Path) -> None:
    shown = run(members, "remove", "members")
    assert shown.exit_code == 2, shown.output
    assert "- anonymizations/members.yml" in shown.output
    said = " ".join(shown.output.split())
    assert "members_identifiers, members_releases, members_tokens." in said
    assert "What was done stays on record: members_register." in said
    assert "whoever has them keeps them: release/dev/members.duckdb." in said
    # What there is not, it does not speak of.
    assert not {"members_sample", "members_withheld", "members_erasures"} & set(
        said.replace(",", " ").replace(".", " ").split()
    )
    assert (members.folder / "anonymizations" / "members.yml").exists()
    other = Project(tmp_path / "other", members.warehouse)
    shutil.copytree(members.folder, other.folder, symlinks=True)

    (members.folder / "models" / "mart.sql").write_text(
        "select * from {{ ref('members_anonymized') }}", encoding="utf-8"
    )
    # Called alike: of the project, and of another target that has a schema of its own.
    members.execute(
        "create table members_sample as select 1 as own; create schema prod; "
        "create table prod.members_attacks as select 1 as own"
    )
    result = run(members, "remove", "members", "--yes", "--drop")
    assert result.exit_code == 0, result.output
    assert "Names a relation of it: models/mart.sql" in result.output
    assert not (members.folder / "models" / "members").exists()
    assert not list((members.folder / "models").glob("*anonymization_results*"))
    assert relations(members, "members") == {
        "members_attacks",
        "members_sample",
        "members_tokens",
        "members_identifiers",
        "members_releases",
        "members_register",
    }
    assert members.release("members"), "what is published is for whoever publishes"
    # Seeds of another name are of the project.
    assert (members.folder / "seeds" / "customers_hierarchy_zip.csv").exists()
    assert members.query("select count(*) from vault.customers") != [(0,)]

    other.execute("create table vault.members_relinkings (attempt bigint primary key)")
    # Another target may have a schema of its own.
    other.execute("create schema vault.prod")
    other.execute("create table vault.prod.members_withheld as select 1 as own")
    result = run(other, "remove", "members", "--yes", "--drop-vault")
    assert result.exit_code == 0, result.output
    assert other.query("from vault.prod.members_withheld") == [(1,)]
    assert other.query(REMEMBERED) == [(None, None)]
    left = relations(other, "members")
    assert {"members_microdata", "members_anonymized", "members_relinkings"} <= left
    assert not {"members_tokens", "members_identifiers", "members_releases"} & left


def test_a_half_written_neighbour_stops_neither_rename_nor_remove(members: Project) -> None:
    specs = members.folder / "anonymizations"
    half_written(members, "draft")
    # A seed of the name that the draft means to use is not of this anonymization alone.
    seeds = members.folder / "seeds"
    for column in ("zip", "city"):
        (seeds / f"people_hierarchy_{column}.csv").write_text("a,b\n", encoding="utf-8")
    result = run(members, "rename", "members", "people", "--yes")
    assert result.exit_code == 0, result.output
    spec = specs / "people.yml"
    text = spec.read_text("utf-8").replace("customers_hierarchy_zip", "people_hierarchy_zip")
    spec.write_text(f"{text}# people_hierarchy_city\n", encoding="utf-8")
    half_written(members, "draft", more="# ref: people_hierarchy_zip\n")

    result = run(members, "remove", "people", "--yes", "--drop")
    assert result.exit_code == 0, result.output
    assert relations(members, "people") <= {f"people_{kind}" for kind in VAULT} | {
        "people_register"
    }
    assert (seeds / "people_hierarchy_zip.csv").exists(), "the draft names it"
    assert not (seeds / "people_hierarchy_city.csv").exists()
    # Of an earlier name: whoever drafted them may still want them, and is told.
    left = "Of no other spec, and not of this name: seeds/customers_hierarchy_gender.csv"
    assert left in result.output
    assert "people_hierarchy_zip.csv" not in result.output
    assert not list((members.folder / "models").rglob("*anonymization_results*"))


def test_a_half_written_draft_can_be_removed(members: Project) -> None:
    draft = half_written(members, "draft", more="# ref: draft_hierarchy_zip\n")
    seed = members.folder / "seeds" / "draft_hierarchy_zip.csv"
    seed.write_text("a,b\n", encoding="utf-8")
    before = relations(members, "members")
    for drop in ("--drop", "--drop-vault"):
        refused = run(members, "remove", "draft", "--yes", drop)
        assert refused.exit_code == 2, refused.output
        assert "anonymizations/draft.yml: columns.zip.role: must be decided" in refused.output
    assert draft.exists()
    unknown = run(members, "remove", "drafts", "--yes")
    assert unknown.exit_code == 2, unknown.output
    assert "anonymizations/drafts.yml: must exist" in unknown.output
    result = run(members, "remove", "draft", "--yes")
    assert result.exit_code == 0, result.output
    assert "The spec cannot be read: relations draft_… stay" in result.output
    assert not draft.exists()
    assert not seed.exists()
    assert relations(members, "members") == before
    assert check(members.folder) == [], "the history still lists members"
