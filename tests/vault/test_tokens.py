"""Tokens: one per person, random, stored once for all builds, and never for two released rows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.errors import VaultError
from dbt_anonymize.vault.tokens import append_tokens
from tests.projects import Project
from tests.vault.projects import copy_with, edit_spec
from tests.written import everything_written

pytestmark = pytest.mark.sampled_tests(4)

TOKENS = "select person, token from vault.main.members_tokens order by person"
RELEASED = "release_members.members_anonymized"
# The release and what leads to it, without training models anew.
PATH_TO_RELEASE = (
    "members_microdata",
    "members_tokens",
    "members_identifiers",
    "members_frequencies",
    "members_classes",
    "members_effort_1",
    "members_anonymized",
)


def columns(project: Project, database: str, table: str) -> list[str]:
    found = project.query(
        "select column_name from duckdb_columns() where database_name ="
        f" '{database}' and table_name = '{table}' order by column_index"
    )
    return [name for (name,) in found]


def test_the_release_has_a_token_instead_of_cqi(built_members: Project) -> None:
    assert columns(built_members, "release_members", "members_anonymized")[-2:] == [
        "churned",
        "token",
    ]
    assert columns(built_members, "vault", "members_identifiers") == [
        "customer_id",
        "full name",
        "e-mail",
        "token",
    ]
    assert columns(built_members, "vault", "members_tokens") == ["person", "token", "identified_by"]


def test_every_person_has_one_token_of_random_digits(built_members: Project) -> None:
    tokens = [token for _, token in built_members.query(TOKENS)]
    assert len(tokens) == len(set(tokens)) == 400
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)


def test_a_token_leads_from_the_release_to_the_person(built_members: Project) -> None:
    """Compared by all that is released unchanged."""
    shared = '"order", größe, spending, churned'
    through_the_vault = built_members.query(
        f"select {shared}, token from vault.main.customers"
        " join vault.main.members_identifiers using (customer_id) order by all"
    )
    released = built_members.query(f"select {shared}, token from {RELEASED} order by all")
    assert 300 < len(released) <= 400
    assert set(released) <= set(through_the_vault)


def test_the_rows_are_ordered_by_what_is_released(built_members: Project) -> None:
    released = built_members.release("members")
    assert released == sorted(released)


def test_a_full_refresh_keeps_every_token(members: Project) -> None:
    before = members.query(TOKENS)
    members.build("--full-refresh")
    assert members.query(TOKENS) == before


def test_who_leaves_and_comes_back_has_the_same_token_and_nobody_elses(members: Project) -> None:
    before = dict(members.query(TOKENS))
    gone = min(before)
    members.execute(f"create table kept as from vault.main.customers where \"e-mail\" = '{gone}'")
    members.execute(f"delete from vault.main.customers where \"e-mail\" = '{gone}'")
    outcome = members.dbt("run", "-s", "members_tokens", "members_identifiers")
    assert outcome.succeeded, outcome.messages
    assert members.query("select count(*) from vault.main.members_identifiers") == [(399,)]
    members.execute("insert into vault.main.customers from kept")
    members.execute(
        "insert into vault.main.customers"
        " select * replace (-1 as customer_id, 'new@e.org' as \"e-mail\") from kept"
    )
    assert members.dbt("run", "-s", "members_tokens").succeeded
    after = dict(members.query(TOKENS))
    assert after.pop("new@e.org") not in before.values()
    assert after == before


def test_two_installations_give_other_tokens_to_the_same_people(
    built_members: Project, tmp_path: Path
) -> None:
    """Nothing but the stored table leads from a person to the token."""
    other = copy_with(tmp_path / "other", "members")
    assert other.dbt("seed").succeeded
    assert other.dbt("run", "-s", "members_microdata", "members_tokens").succeeded
    assert [p for p, _ in other.query(TOKENS)] == [p for p, _ in built_members.query(TOKENS)]
    assert not {t for _, t in other.query(TOKENS)} & {t for _, t in built_members.query(TOKENS)}


def test_the_seed_of_the_database_decides_no_token() -> None:
    drawn = []
    for _ in range(2):
        with duckdb.connect() as connection:
            connection.execute("select setseed(0.5)").fetchall()
            connection.execute(
                "create table tokens (person integer, token varchar, identified_by varchar)"
            )
            append_tokens(
                connection, relation="tokens", people="select 1 as person", identified_by="id"
            )
            drawn += connection.execute("select token from tokens").fetchall()
    assert drawn[0] != drawn[1]


def test_a_failure_adds_nobody_and_quotes_nobody() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create table tokens (person integer, token varchar, identified_by varchar)"
        )
        people = "select unnest(['1', 'Sofía']) as person"
        with pytest.raises(VaultError) as error:
            append_tokens(connection, relation="tokens", people=people, identified_by="id")
        assert "Sofía" not in str(error.value)
        assert error.value.__cause__ is None
        assert connection.execute("select count(*) from tokens").fetchall() == [(0,)]


def test_tokens_and_people_are_in_no_log_and_no_compiled_file(built_members: Project) -> None:
    written = everything_written(built_members)
    for person, token in built_members.query(TOKENS):
        assert token not in written
        assert str(person) not in written


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flag", [["--empty"], ["--sample", "1 day"]])
def test_a_trial_run_gives_no_token(members: Project, flag: list[str]) -> None:
    before = members.query(TOKENS), members.release("members")
    members.execute('update vault.main.customers set "e-mail" = \'x\' || "e-mail"')
    outcome = members.dbt("run", *flag, "-s", "members_tokens", "members_identifiers")
    assert outcome.succeeded, outcome.messages
    assert (members.query(TOKENS), members.release("members")) == before


def test_a_trial_run_works_before_the_first_build(tmp_path: Path) -> None:
    project = copy_with(tmp_path / "project", "members", "guests")
    project.build("--empty")
    assert project.query("select count(*) from vault.main.members_tokens") == [(0,)]
    assert not list((project.folder / "release").rglob("*.duckdb"))


def stops(project: Project, *selected: str, says: tuple[str, ...]) -> None:
    """Assert that a run fails with a message and leaves release and tokens as they were."""
    before = project.release_file("members").read_bytes(), project.query(TOKENS)
    outcome = project.dbt("run", "-s", *selected)
    assert not outcome.succeeded
    for fragment in says:
        assert fragment in outcome.messages, outcome.messages
    assert (project.release_file("members").read_bytes(), project.query(TOKENS)) == before


def test_a_person_with_two_released_records_stops_the_build(members: Project) -> None:
    """The classes themselves remain large enough, since only people are counted in them."""
    members.execute(
        "create table twins as select customer_id, row_number() over () % 5 as pair"
        " from main.members_effort_1 where not is_suppressed order by customer_id limit 10"
    )
    members.execute(
        "update vault.main.customers as c set \"e-mail\" = 'pair' || pair || '@example.org'"
        " from twins where c.customer_id = twins.customer_id"
    )
    assert members.dbt("run", "-s", "members_microdata", "members_tokens").succeeded
    stops(
        members,
        *PATH_TO_RELEASE,
        says=("every person may have one released record", "5 of ", "mapping: class"),
    )


def test_a_vault_of_other_data_stops_the_release(members: Project) -> None:
    members.execute(
        "update vault.main.members_identifiers set token = 'made up' where customer_id ="
        " (select min(customer_id) from members_effort_1 where not is_suppressed)"
    )
    stops(members, "members_anonymized", says=("must have a token of", "1 of "))


def test_a_record_without_a_token_stops_the_release(members: Project) -> None:
    members.execute(
        "delete from vault.main.members_identifiers where customer_id ="
        " (select min(customer_id) from members_effort_1 where not is_suppressed)"
    )
    stops(members, "members_anonymized", says=("must have a token of", "1 of "))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("set token = null where person = (select min(person) from {t})", "1 are NULL"),
        ("set person = null where person = (select min(person) from {t})", "1 are of nobody"),
        (
            "set token = (select max(token) from {t})"
            " where token <> (select max(token) from {t})"
            " and person = (select min(person) from {t})",
            "1 repeat another's",
        ),
    ],
)
def test_tokens_that_were_changed_by_hand_stop_the_release(
    members: Project, change: str, says: str
) -> None:
    table = "vault.main.members_tokens"
    members.execute(f"update {table} {change.format(t=table)}")
    stops(members, "members_anonymized", says=("must be of one person", says))


def test_a_subject_of_another_type_stops_before_anybody_gets_a_token(members: Project) -> None:
    members.execute("alter table vault.main.customers add column n integer")
    members.execute("update vault.main.customers set n = customer_id")
    members.execute('alter table vault.main.customers drop column "e-mail"')
    members.execute('alter table vault.main.customers rename column n to "e-mail"')
    stops(members, "members_tokens", says=("is of type varchar; in the source it is integer",))


def test_tokens_of_people_whom_another_column_identified_stop_the_build(members: Project) -> None:
    """A number that was a visit may be a person next time."""
    members.execute("update vault.main.members_tokens set identified_by = 'visit_id'")
    before = members.query(TOKENS)
    stops(members, "members_tokens", says=("must be of people who are identified by", "400 stored"))
    assert members.query(TOKENS) == before


def test_a_person_who_is_stored_twice_doubles_no_record(members: Project) -> None:
    members.execute(
        "insert into vault.main.members_tokens select person, 'other', identified_by from"
        " vault.main.members_tokens limit 1"
    )
    before = members.query("from vault.main.members_identifiers order by all")
    stops(members, "members_identifiers", says=("every record must be there once; 1 of 401",))
    assert members.query("from vault.main.members_identifiers order by all") == before


def test_identifiers_are_built_before_the_release_and_stop_it(members: Project) -> None:
    """A token for somebody whom the working copy does not know, and none for a new one."""
    members.execute("delete from vault.main.members_tokens where person like 'c8411@%'")
    outcome = members.dbt("run", "-s", "members_identifiers", "members_anonymized")
    assert "every record must be of a person with a token; 1 of 400 are not" in outcome.messages
    assert outcome.status("members_anonymized") == "skipped"


def test_without_a_mapping_nothing_leads_back_and_no_vault_is_needed(tmp_path: Path) -> None:
    project = copy_with(tmp_path / "project", "guests")
    project.edit(
        "profiles.yml",
        lambda text: text[: text.index("      attach:")],
    )
    project.edit("dbt_project.yml", lambda text: text[: text.index("seeds:\n  shop:")])
    project.build()
    assert not list((project.folder / "vault").glob("*.duckdb*"))
    assert project.folder.joinpath("vault").stat().st_mode & 0o777 == 0o755
    with duckdb.connect(str(project.release_file("guests")), read_only=True) as release:
        names = [row[0] for row in release.execute("describe guests_anonymized").fetchall()]
        sizes = release.execute(
            "select count(*) from guests_anonymized group by birth_date, zip"
        ).fetchall()
    assert names[-1] == "churned"
    assert "gender" not in names, "`*` in every effort"
    assert not {"cqi", "token", "customer_id"} & set(names)
    assert min(size for (size,) in sizes) >= 4
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text())
    groups = {group["name"] for group in manifest["groups"].values()}
    assert "guests_anonymization" in groups
    assert "guests_custodians" not in groups


def test_the_gate_counts_classes_without_cqi(members: Project) -> None:
    """Labels alone make a class; the results, of the records before, say that it is large."""
    members.execute(
        "delete from members_microdata where customer_id not in (select min(customer_id)"
        " from members_effort_1 group by birth_date, zip, gender)"
    )
    stops(members, "members_anonymized", says=("k_anonymity requires at least 4 records",))


def test_a_token_is_never_released_to_the_public(members: Project) -> None:
    from dbt_anonymize.errors import SpecError

    with pytest.raises(SpecError, match="a token is the same in every release"):
        edit_spec(
            members, "members", "mapping: token\n", "mapping: token\nrelease: {access: public}\n"
        )
