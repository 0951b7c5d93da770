"""Vault, tokens, grants and re-linking on a Postgres server."""

from __future__ import annotations

import csv
import io
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from tests.extensions.postgres.conftest import on_postgres
from tests.extensions.postgres.server import Server, Watch
from tests.projects import Project, copy_consumer, run_command
from tests.vault.projects import SPECS
from tests.written import everything_written, logging_everything

# Some minutes; `make test` runs the smaller part that is beside this.
pytestmark = pytest.mark.slow

# Mapping by class, by token, and none.
NAMES = ("customers", "members", "guests")
POLICY = "relinking: {purposes: [contact tracing], highest_information_loss: 0.9}\n"
TOKENS = "select person, token from shop_vault.members_tokens order by person"
VAULT = (
    "customers_identifiers",
    "customers_relinkings",
    "customers_releases",
    "members_identifiers",
    "members_relinkings",
    "members_releases",
    "members_tokens",
    "dbt_anonymize_owner",
)
PURPOSE = ("--purpose", "contact tracing")
AUDIT = "select attempt, database_user, outcome, shown_people from shop_vault.members_relinkings"


@dataclass(frozen=True)
class Built:
    """The project after two builds and a full refresh, and what was seen of them."""

    project: Project
    on_duckdb: Project
    server: Server
    tokens: list[list[tuple[Any, ...]]]
    watch: Watch


@pytest.fixture(scope="module")
def built(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build where analysts are given every new schema and table, and later everybody is."""
    folder = tmp_path_factory.mktemp("postgres")
    on_duckdb = _declared(folder / "duckdb")
    on_duckdb.build()
    project = on_postgres(on_duckdb, folder / "postgres", server, NAMES)
    server.query(f"alter default privileges grant usage on schemas to {server.analyst}")
    server.query(f"alter default privileges grant select on tables to {server.analyst}")
    # The seed with identifiers is the project's own: the closed schema protects it.
    watch = Watch(server, server.analyst, "shop_vault", ignored=["customers"])
    tokens = []
    with watch.running(), logging_everything():
        project.build()
        tokens.append(server.query(TOKENS))
        server.query(f"grant usage on schema shop, shop_release to {server.custodians}")
        server.query("grant usage on schema shop_vault to public")
        server.query(
            "alter default privileges in schema shop_vault grant select on tables to public"
        )
        for arguments in ([], ["--full-refresh"]):
            project.build(*arguments)
            tokens.append(server.query(TOKENS))
    return Built(project, on_duckdb, server, tokens, watch)


def _declared(folder: Path) -> Project:
    """Copy the stranger's project with three specs, of which two allow re-linking."""
    project = copy_consumer(folder)
    (folder / "models" / "unit_tests.yml").unlink()
    for name in ("members", "guests"):
        shutil.copy(SPECS / f"{name}.yml", folder / "anonymizations")
    for name in ("customers", "members"):
        project.edit(f"anonymizations/{name}.yml", lambda text: text + POLICY)
    generate(folder)
    return project


def command(project: Project, *arguments: str, given: str = "") -> Result:
    """Run a command of the package inside this process, which must not show a traceback."""
    result = CliRunner().invoke(
        app, [*arguments, "--project-dir", str(project.folder)], input=given
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def given(built: Built, name: str, column: str, *, rows: int) -> str:
    """Return released rows."""
    found = built.server.query(
        f"select {column} from shop_release.{name}_anonymized order by 1 limit {rows}"
    )
    text = io.StringIO()
    csv.writer(text).writerows([[column], *found])
    return text.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_the_release_is_that_of_duckdb(built: Built, name: str) -> None:
    """But for the tokens, which are random."""
    is_token = name == "members"
    here = built.server.query(f"select * from shop_release.{name}_anonymized")
    there = built.on_duckdb.release(name)
    assert len(there) > 300
    assert sorted(str(row[:-1] if is_token else row) for row in here) == sorted(
        str(row[:-1] if is_token else row) for row in there
    )


def test_tokens_survive_rebuild_and_full_refresh(built: Built) -> None:
    first, second, refreshed = built.tokens
    assert first == second == refreshed
    assert len({token for _, token in first}) == len(first) == 400
    assert all(re.fullmatch("[0-9a-f]{32}", token) for _, token in first)


def test_tokens_and_people_are_in_no_log_and_no_compiled_file(built: Built) -> None:
    written = everything_written(built.project)
    assert len(written) > 10_000
    for person, token in built.tokens[0]:
        assert token not in written
        assert str(person) not in written


def test_at_no_moment_of_a_build_could_others_read_the_vault(built: Built) -> None:
    """Though every new table was granted to them by default, and to everybody later."""
    assert built.watch.looks > 100
    assert built.watch.readable == set()


def test_builds_leave_nothing_beside_the_vault(built: Built) -> None:
    found = built.server.query("select tablename from pg_tables where schemaname = 'shop_vault'")
    assert {name for (name,) in found} == {"customers", *VAULT}


@pytest.mark.parametrize("table", ["customers", *VAULT])
def test_an_analyst_reads_releases_and_not_the_vault(built: Built, table: str) -> None:
    """The seed with identifiers is in the vault's schema, which nobody else may enter."""
    server = built.server
    for name in NAMES:
        count = f"select count(*) from shop_release.{name}_anonymized"
        assert server.query(count, server.analyst)[0][0] > 300
    assert server.refuses(f"select 1 from shop_vault.{table}", server.analyst)


def test_custodians_alone_hold_rights_after_a_rebuild(built: Built) -> None:
    """Read all, and add to the audits."""
    found = built.server.query(
        "select relname, pg_get_userbyid(grantee), string_agg(privilege_type, ' ' order by"
        " privilege_type) from pg_class cross join lateral aclexplode(relacl) where relnamespace"
        " = to_regnamespace('shop_vault') and relkind = 'r' and relname <> 'customers'"
        " and grantee <> relowner group by 1, 2"
    )
    rights = {table: (grantee, granted) for table, grantee, granted in found}
    assert rights == {
        table: (
            built.server.custodians,
            "INSERT SELECT" if table.endswith("relinkings") else "SELECT",
        )
        for table in VAULT
    }
    assert len(found) == len(VAULT)
    for table in VAULT:
        built.server.query(f"select * from shop_vault.{table}", built.server.custodian)


def test_who_is_no_custodian_any_more_reads_nothing_after_the_next_build(built: Built) -> None:
    server, project = built.server, built.project
    tables = ["members_identifiers", "members_tokens"]
    nobody = ["--vars", "{dbt_anonymize_custodians: []}"]
    try:
        assert project.dbt("run", "-s", *tables, *nobody).succeeded
        for table in tables:
            assert server.refuses(f"select 1 from shop_vault.{table}", server.custodian)
    finally:
        assert project.dbt("run", "-s", *tables).succeeded
    assert server.query("select count(*) from shop_vault.members_tokens", server.custodian)


def test_a_vault_in_the_schema_of_releases_stops_the_build(built: Built) -> None:
    shared = ["--vars", "{dbt_anonymize_vault_schema: release}"]
    outcome = built.project.dbt("run", "-s", "members_tokens", *shared)
    assert not outcome.succeeded
    assert "the vault must be a schema of its own; got shop_release" in outcome.messages


def test_an_open_schema_of_somebody_else_stops_the_build(built: Built) -> None:
    """Before a seed brings identifiers; one that only custodians and the builder enter does not."""
    server, project = built.server, built.project
    other = ["--vars", "{dbt_anonymize_vault_schema: foreign}"]
    database = server.database
    server.query(f"grant create on database {database} to {server.analyst}")
    server.query("create schema shop_foreign", server.analyst)
    for who, what in ((server.builder, "usage, create"), (server.custodians, "usage")):
        server.query(f"grant {what} on schema shop_foreign to {who}", server.analyst)
    seed = ["seed", "-s", "guests_evaluation_facts"]
    try:
        assert project.dbt(*seed, *other).succeeded
        server.query("grant usage on schema shop_foreign to public", server.analyst)
        outcome = project.dbt(*seed, *other)
        assert not outcome.succeeded
        assert "nobody but custodians may enter the schema of the vault" in outcome.messages
        assert "gives usage to public." in outcome.messages
    finally:
        server.query("drop schema shop_foreign cascade", server.analyst)
        server.query(f"revoke create on database {database} from {server.analyst}")


def test_a_record_of_an_unknown_class_stops_the_statement_that_reads_it(built: Built) -> None:
    import psycopg2

    with built.server.connection(built.server.builder) as connection:
        connection.autocommit = False
        cursor = connection.cursor()
        cursor.execute("delete from shop.guests_classes")
        with pytest.raises(psycopg2.Error, match="guests_effort_1: the equivalence class of"):
            cursor.execute("select * from shop.guests_effort_1")
        connection.rollback()


@pytest.mark.parametrize(("name", "column"), [("customers", "cqi"), ("members", "token")])
def test_a_custodian_relinks_and_the_audit_says_who(built: Built, name: str, column: str) -> None:
    server = built.server
    rows = given(built, name, column, rows=2)
    arguments = ["relink", name, *PURPOSE, "--target", "custodian", "--format", "csv"]
    result = command(built.project, *arguments, given=rows)
    assert result.exit_code == 0, result.output
    values = set(rows.split()[1:])
    shown = list(csv.reader(io.StringIO(result.stdout)))
    in_vault = server.query(
        f'select {column}, customer_id, "full name", "e-mail"'
        f" from shop_vault.{name}_identifiers where {column} is not null"
    )
    assert {tuple(row) for row in shown[1:]} == {
        tuple(map(str, row)) for row in in_vault if row[0] in values
    }
    last = server.query(
        "select database_user, outcome, shown_people, policy like '%contact tracing%'"
        f" from shop_vault.{name}_relinkings order by attempt desc limit 1"
    )
    assert last == [(server.custodian, "granted", len(shown) - 1, True)]


def test_a_refused_request_shows_nobody_and_is_written(built: Built) -> None:
    rows = given(built, "members", "token", rows=1)
    result = command(
        built.project, "relink", "members", "--purpose", "x", "--target", "custodian", given=rows
    )
    assert (result.exit_code, result.stdout) == (1, "")
    last = built.server.query(f"{AUDIT} order by attempt desc limit 1")[0]
    assert last[1:] == (built.server.custodian, "refused", 0)


def test_nobody_is_shown_to_an_analyst(built: Built) -> None:
    before = built.server.query(AUDIT)
    rows = given(built, "members", "token", rows=1)
    result = command(
        built.project, "relink", "members", *PURPOSE, "--target", "analyst", given=rows
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert built.server.query(AUDIT) == before


@pytest.mark.parametrize(
    "change",
    [
        "update shop_vault.members_relinkings set outcome = 'granted'",
        "delete from shop_vault.members_relinkings",
        "truncate shop_vault.members_relinkings",
        "alter table shop_vault.members_relinkings add column remark text",
        "drop table shop_vault.members_relinkings",
        "create table shop_vault.members_relinkings_2 (attempt bigint)",
    ],
)
def test_a_custodian_can_only_add_to_the_audit(built: Built, change: str) -> None:
    assert built.server.refuses(change, built.server.custodian)


def test_two_requests_at_once_are_two_attempts(built: Built, tmp_path: Path) -> None:
    """And builds keep the audit."""
    before = len(built.server.query(AUDIT))
    (tmp_path / "rows.csv").write_text(given(built, "members", "token", rows=1), encoding="utf-8")
    asked = (
        f"{Path(sys.executable).with_name('dbt-anonymize')} relink members {tmp_path}/rows.csv"
        " --purpose 'contact tracing'"
        f" --target custodian --project-dir {built.project.folder}"
    )
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(lambda _: run_command(asked, tmp_path), range(2)))
    assert all("Recorded in members_relinkings as attempt" in text for text in shown)
    assert built.project.dbt("run", "-s", "members_identifiers", "--full-refresh").succeeded
    from dbt_anonymize.extensions.custody.relink.audit import check_audit

    with open_warehouse(find_project(built.project.folder)) as warehouse:
        assert check_audit(warehouse, "members") == (before + 2, 0)


def test_provenance_and_audit_are_verified(built: Built) -> None:
    for name in NAMES:
        result = command(built.project, "verify", name, "--check", "provenance", "--check", "audit")
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", NAMES)
def test_every_mapping_is_verified(built: Built, name: str) -> None:
    result = command(built.project, "verify", name)
    assert result.exit_code == 0, result.output
    # By default privileges.
    assert "may be read by roles that `grants` of the model does not name" in result.output


def test_results_name_the_released_relation(built: Built) -> None:
    result = command(built.project, "results", "members")
    assert result.exit_code == 0, result.output
    place: Any = f'"{built.server.database}"."shop_release"."members_anonymized"'
    assert f"released: {place}" in " ".join(result.output.split())
