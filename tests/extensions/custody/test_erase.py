"""Erasing a person: nothing of her stays, and no difference of releases shows her."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.extensions.custody.erase.owned import SHARED, owned_relations
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_specs
from dbt_anonymize.spec.yaml_text import set_value
from tests.projects import Project
from tests.second_month.customers import (
    SPEC,
    Customers,
    K,
    frozen_copy,
    members_of,
    published,
    run,
    subtracted,
)
from tests.second_month.forgetting import places_of, without
from tests.second_month.half_written import half_written
from tests.vault.byte_search import found

pytestmark = [pytest.mark.sampled_tests(group="builds"), pytest.mark.dbt]

# A text that ends a literal, and one that ends a name.
MAIL = "o'brien\"; drop table x@example.org"
COMMAND = ["erase", "members", "--subject", MAIL, "--yes"]


def someone(members: Project) -> tuple[str, str]:
    """Give somebody of a large class a subject with quotes; return her record key and old mail."""
    ((key, mail),) = members.query(
        'select customer_id, "e-mail" from vault.members_identifiers join '
        "vault.members_releases on record_key = cast(customer_id as varchar) "
        "join (select cqi from vault.members_releases group by cqi order by count(*) desc, 1 "
        "limit 1) using (cqi) order by customer_id limit 1"
    )
    mail_sql = MAIL.replace("'", "''")
    for table, column in (("identifiers", '"e-mail"'), ("tokens", "person")):
        members.execute(
            f"update vault.members_{table} set {column} = '{mail_sql}' where {column} = '{mail}'"
        )
    return str(key), mail


def assert_little_left_with_her(
    members: Project, before: list[tuple[object, ...]], *texts: str
) -> None:
    """Nobody else is gone, but for those who leave the release with her; the receipt has no key."""
    withheld = members.query("from vault.members_withheld")
    assert len(withheld) == K - 1
    after = members.release("members")
    left = Counter(before) - Counter(after)
    assert sum(left.values()) == K
    assert not Counter(after) - Counter(before)
    assert len({row[:5] for row in left}) == 1, "one class"
    receipts = members.query("from vault.members_erasures")
    assert {row[3]: row[4] for row in receipts} == {
        f"members_{kind}": 1 for kind in ("identifiers", "microdata", "releases", "tokens")
    }
    assert all(row[2] >= row[1] for row in receipts)
    assert not {*texts} & {str(cell) for row in receipts for cell in row}


def assert_whoever_looks_is_told(members: Project) -> None:
    """Look for an open erasure as operators do."""
    named = " ".join(run(members, "doctor").output.split())
    assert "note erasures: one of members was begun and is not complete" in named
    audited = run(members, "verify", "members", "--check", "audit")
    assert audited.exit_code == 1, audited.output
    said = " ".join(audited.output.split())
    assert "an erasure that was begun must be completed; 1 of 1 are not" in said


def refusing_another_key(members: Project, *texts: str) -> Path:
    """Return the digest by which an open erasure is known, and no other key can end it."""
    (digest,) = (members.folder / "vault").glob(".members.*.erasure")
    assert digest.stat().st_mode & 0o777 == 0o600
    assert not {*texts} & {*json.loads(digest.read_text()).values()}
    other = run(members, "erase", "members", "--subject", texts[1], "--yes")
    assert other.exit_code == 2, other.output
    assert "must be the key of the erasure that was begun" in " ".join(other.output.split())
    return digest


def test_a_person_is_gone_from_every_cell_and_every_byte(members: Project) -> None:
    key, mail = someone(members)
    refused = run(members, *COMMAND)
    assert refused.exit_code == 2, refused.output
    assert "the source must have forgotten the person first" in refused.output
    without(members, key)
    before = members.release("members")
    members.execute("create table vault.members_tokens__dbt_backup as from vault.members_tokens")
    members.execute("create table members_identifiers_2020 as from vault.members_identifiers")

    arguments = ["erase", "members", "--subject", "-", "--project-dir", str(members.folder)]
    environment = {"DBT_PROFILES_DIR": str(members.folder)}
    unknown = CliRunner().invoke(app, arguments, env=environment, input="nobody'; --\n")
    assert unknown.exit_code == 2
    assert "nothing was found" in unknown.output
    broken = run(members, "erase", "members", "--subject", "\udcff", "--yes")
    assert broken.exit_code == 2
    assert "must be text that UTF-8 can hold" in broken.output
    unasked = run(members, *COMMAND[:-1])
    assert unasked.exit_code == 2
    assert "Nothing was erased. Add --yes" in unasked.output
    # The build fails: the vault must not wait for it.
    stopped = run(members, *COMMAND, "--dbt", "/bin/false")
    assert stopped.exit_code == 1, stopped.output
    assert "the build failed" in stopped.output
    assert "is still published" in " ".join(stopped.output.split())
    assert MAIL not in stopped.output
    assert places_of(members, key, MAIL) == {"members_identifiers_2020"}
    assert members.release("members") == before

    assert_whoever_looks_is_told(members)

    digest = refusing_another_key(members, key, mail, MAIL)
    lost = digest.rename(members.folder / "digest")

    # What is of no model of ours is for its owner to clear, and nothing is said to be complete.
    stopped = run(members, *COMMAND)
    assert "See that it is the one that was begun with" in " ".join(stopped.output.split())
    assert stopped.exit_code == 1, stopped.output
    assert "members_identifiers_2020 must not have rows of her; it has 1" in stopped.output
    members.execute("drop table members_identifiers_2020")
    lost.replace(digest)
    result = run(members, *COMMAND)
    assert result.exit_code == 0, result.output
    assert "See that it is" not in result.output
    assert "members: erased." in result.output
    assert not digest.exists()
    assert places_of(members, key, MAIL, mail) == set()
    files = [*members.folder.rglob("*.duckdb*")]
    assert {file.name: held for file in files if (held := found(file, {mail, MAIL}))} == {}
    assert (members.folder / "vault/vault.duckdb").stat().st_mode & 0o777 == 0o600

    assert_little_left_with_her(members, before, key, mail, MAIL)
    assert "erasures" not in run(members, "doctor").output
    checks = ["recomputation", "guarantees", "attacks", "audit"]
    verified = run(members, "verify", "members", *(f"--check={name}" for name in checks))
    assert verified.exit_code == 0, verified.output
    assert "warning" not in verified.output


def test_nobody_is_erased_while_it_is_open_whose_relations_are_called_alike(
    members: Project,
) -> None:
    key, _ = someone(members)
    without(members, key)
    half_written(members, "members_draft")
    refused = run(members, *COMMAND)
    assert refused.exit_code == 2, refused.output
    assert "anonymizations/members_draft.yml: columns.zip.role: must be decided" in refused.output
    assert members.query(f"select 1 from vault.members_identifiers where customer_id = {key}")


@pytest.mark.slow
@pytest.mark.needs("second_month")
def test_no_difference_of_frozen_releases_shows_who_was_erased(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = frozen_copy(built_consumer, tmp_path / "project")
    # Independent code must know as well who takes part.
    project.edit(SPEC, lambda text: set_value(text, ["release", "recompute"], True))
    generate(project.folder)
    classes = list(members_of(project).values())
    large, small = classes[0], min((one for one in classes if len(one) >= K), key=len)
    assert len(small) < 2 * K <= len(large)
    months = [published(project)]
    for person in (large[0], small[0]):
        without(project, person)
        result = run(project, "erase", "customers", "--subject", person, "--yes")
        assert result.exit_code == 0, result.output
        months.append(published(project))
        assert places_of(project, person) == set()
    withheld = [row[0] for row in project.query("from vault.customers_withheld")]
    assert len(set(withheld) & {*large}) == K - 1
    assert {*small[1:]} <= {*withheld}
    # Next month others join; those who left with her do not come back.
    customers = Customers(project)
    customers.join(large[1], K)
    customers.build()
    months.append(published(project))
    sizes = subtracted(months)
    assert min(sizes) >= K
    assert sum(months[-1].values()) == sum(months[0].values()) - len(small)
    checks = ["--check", "recomputation", "--check", "guarantees", "--check", "attacks"]
    verified = run(project, "verify", "customers", *checks)
    assert verified.exit_code == 0, verified.output
    assert "warning" not in verified.output


@pytest.mark.needs("differential_privacy")
def test_draws_and_digests_are_erased(built_samples: Project, tmp_path: Path) -> None:
    project = built_samples.copy(tmp_path / "project")
    (name,) = [
        spec.name for spec in load_specs(project.folder) if spec.differential_privacy is not None
    ]
    ((key,),) = project.query(f"select max(person) from vault.{name}_sample")
    without(project, str(key))
    result = run(project, "erase", name, "--subject", str(key), "--yes", "--dbt", "/bin/false")
    assert result.exit_code == 1, result.output
    assert project.query(f"from vault.{name}_sample where person = {key}") == []
    digests = project.query(
        f"select data from vault.dbt_anonymize_budget where anonymization = '{name}'"
    )
    assert digests
    assert {row[0] for row in digests} == {""}
    assert project.query(f"select distinct source, content from {name}_register") == [(None, None)]
    # Draws of its own hide her in the next release; others who left with her would show her.
    assert project.query(f"from vault.{name}_withheld") == []


def test_records_of_a_subject_whom_the_vault_no_longer_knows_are_named(members: Project) -> None:
    ((key, mail),) = members.query(
        'select customer_id, "e-mail" from vault.members_identifiers order by 1 limit 1'
    )
    without(members, str(key))
    for table, column in (("identifiers", '"e-mail"'), ("tokens", "person")):
        members.execute(f"delete from vault.members_{table} where {column} = '{mail}'")
    refused = run(members, "erase", "members", "--subject", mail, "--yes")
    assert refused.exit_code == 2
    assert "Name the keys of her records with --record" in refused.output
    named = ["--record", str(key), "--yes", "--dbt", "/bin/false"]
    result = run(members, "erase", "members", "--subject", mail, *named)
    assert result.exit_code == 1, result.output
    assert places_of(members, str(key)) == set()


def test_what_another_target_has_in_the_same_vault_is_its_own(members: Project) -> None:
    key, _ = someone(members)
    kinds = {"vault.": ("identifiers", "tokens", "releases"), "": ("microdata", "register")}
    for database, names in kinds.items():
        members.execute(f"create schema {database}prod")
        for kind in names:
            table = f"{database}prod.members_{kind}"
            members.execute(f"create table {table} as from {database}main.members_{kind}")
    theirs = [
        (f"{database}prod.members_{kind}", members.query(f"from {database}prod.members_{kind}"))
        for database, names in kinds.items()
        for kind in names
    ]
    without(members, key)
    half_written(members, "draft")
    before = members.release("members")
    result = run(members, *COMMAND)
    assert result.exit_code == 0, result.output
    assert "Specs that cannot be read, and not erased there: draft." in result.output
    said = " ".join(result.output.split())
    assert "Of another target, and not erased there" in said
    assert "vault.prod.members_tokens (1 row)" in said
    assert "The bytes of vault.duckdb, shop.duckdb hold her until then" in said
    assert "members: erased." in said
    for table, rows in theirs:
        assert members.query(f"from {table}") == rows, table
    assert_little_left_with_her(members, before, key, MAIL)


@pytest.mark.parametrize("world", ["built_consumer", "built_members", "built_samples"])
def test_every_relation_of_a_built_project_is_accounted_for(
    world: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    project = request.getfixturevalue(world).copy(tmp_path / "project")
    (name, *_) = names = [spec.name for spec in load_specs(project.folder)]
    project.execute(f"create table vault.{name}_of_tomorrow (record_key varchar)")
    project.execute(f"create schema vault.prod; create table vault.prod.{name}_withheld (key int)")
    accounts, theirs = {}, set[str]()
    with open_warehouse(find_project(project.folder)) as warehouse:
        everything = warehouse.rows(
            "select table_name from duckdb_tables() where not internal and database_name <> 'temp' "
            "union all select view_name from duckdb_views() where not internal"
        )
        for spec in load_specs(project.folder):
            owned = owned_relations(warehouse, spec, names)
            # The name of a neighbour takes no relation away.
            assert owned == owned_relations(warehouse, spec, [*names, f"{spec.name}_effort"])
            for one in owned:
                accounts[one.identifier] = one.account
                assert (one.schema == "prod") == (one.account == "of another target")
        theirs = {
            node.name for node in warehouse.manifest.nodes.values() if node.resource_type == "seed"
        }
    unknown = {relation for relation, account in accounts.items() if account == "unknown"}
    assert unknown == {f"{name}_of_tomorrow"}
    assert {relation for (relation,) in everything} <= {*accounts, *SHARED, *theirs}
    assert accounts[f"{name}_microdata"] == "rebuilt"
