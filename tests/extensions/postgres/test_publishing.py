"""Publishing on Postgres is one transaction: the old release or the new one, with all about it."""

from __future__ import annotations

import contextlib
import itertools
import re
import subprocess
import sys
import time
from pathlib import Path

import psycopg2
import pytest
import yaml

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.published import RELEASE, Published, before_statements
from tests.extensions.postgres.server import Server
from tests.extensions.postgres.test_demonstration import on_postgres
from tests.projects import Project
from tests.second_month.customers import Customers, K, members_of
from tests.worlds.private import changed, sampled_and_private, write

# A build of all, and of what waits; `make test` runs the smaller part in `test_demonstration`.
pytestmark = [pytest.mark.slow, pytest.mark.dbt, pytest.mark.needs("second_month")]


@pytest.fixture(scope="module")
def published(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> Published:
    """Freeze a release, and let people join it: publishing changes all that it may change."""
    folder = tmp_path_factory.mktemp("publishing") / "project"
    project = on_postgres(built_consumer, folder, server)
    for arguments in (["build", "customers"], ["freeze", "customers"]):
        result = command(project, *arguments)
        assert result.exit_code == 0, result.output
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    project.build("-s", "+customers_anonymized", "--exclude", "resource_type:test")
    return Published(project, server)


@pytest.fixture
def joined(published: Published, built_consumer: Project) -> Published:
    """Let as many people join as k, up to the step that publishes them."""
    customers = Customers(published.project)
    customers.new = itertools.count(20_000 + len(published.members()))
    (first, *_) = members_of(built_consumer).values()
    for place, key in enumerate(customers.join(first[0], K)):
        customers.rows[key]["churned"] = "yes" if place % 2 else "no"
    customers.write()
    published.project.build(
        *("-s", "+customers_anonymized"),
        *("--exclude", "customers_anonymized", "resource_type:test"),
    )
    return published


def end_session(server: Server, process: int) -> None:
    """End one, as a kill does: the server undoes what it has not committed."""
    server.query(f"select pg_terminate_backend({process}, 10000)")


def test_whenever_it_is_killed_all_is_as_it_was(joined: Published) -> None:
    """Before each statement up to the one commit that publishes, and then after it."""
    before, number = joined.state(), 0
    while True:

        def kill(seen: list[str], _: str, process: int, number: int = number) -> None:
            if len(seen) == number:
                end_session(joined.server, process)

        with before_statements(kill) as seen:
            outcome = joined.publish()
        assert not outcome.succeeded
        assert len(seen) > number, "it ended by itself"
        after = joined.state()
        if after != before:
            break
        number += 1
    assert number > 30
    assert seen[number - 1] == "commit"
    assert all(one != other for one, other in zip(before[:5:2], after[:5:2], strict=True))
    assert after[5] == before[5]
    assert len(after[4]) == len(before[4]) + K
    # Who joined is remembered now: published alone, the step would take them for new ones.
    assert "run `dbt build -s +customers_anonymized`" in joined.publish().messages
    joined.project.build("-s", "+customers_anonymized", "--exclude", "resource_type:test")
    assert joined.members() == after[4]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("analyst", "analyst_of_nobody", "must be a role of the server; {}_of_nobody is none"),
        ("select:", "selekt:", "unrecognized privilege type"),
    ],
)
def test_a_grant_that_fails_publishes_nothing(
    published: Published, old: str, new: str, says: str
) -> None:
    """A role that is not there before anything is built, and whatever fails with all the rest."""
    before = published.state()
    project = published.project
    settings = (project.folder / "dbt_project.yml").read_text(encoding="utf-8")
    project.edit("dbt_project.yml", lambda text: text.replace(old, new))
    outcome = published.publish()
    project.edit("dbt_project.yml", lambda _: settings)
    assert not outcome.succeeded
    assert says.format(published.server.analyst) in outcome.messages
    assert published.state() == before


def test_whoever_cannot_enter_the_schema_of_a_release_is_named(published: Published) -> None:
    server = published.server
    server.query(f"revoke usage on schema shop_release from {server.analyst}")
    said = published.publish().messages
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    grant = f'grant usage on schema "shop_release" to {server.analyst}'
    assert grant in said
    assert grant not in published.publish().messages


def test_python_models_stop_the_build_before_it_begins(published: Published) -> None:
    project = published.project.copy(published.project.folder.parent / "python")
    (project.folder / "models" / "evaluated.py").write_text(
        "def model(dbt, session):\n    from dbt_anonymize.evaluation import evaluate\n"
        "    return evaluate(session)\n",
        encoding="utf-8",
    )
    outcome = project.dbt("build", "-s", "evaluated", "customers_microdata")
    assert not outcome.succeeded
    assert "postgres runs no Python models, and evaluated is one." in outcome.messages
    assert "customers_microdata" not in "".join(outcome.statuses)


def test_a_reader_in_a_loop_never_fails(published: Published) -> None:
    with published.reading():
        for _ in range(3):
            assert published.publish().succeeded


def test_who_reads_in_an_open_transaction_is_named_and_blocks_nobody_for_long(
    published: Published,
) -> None:
    server, before = published.server, published.state()
    with server.connection(server.analyst) as connection:
        cursor = connection.cursor()
        cursor.execute("set application_name = 'monthly report'")
        cursor.execute(f"begin; select min(zip) from {RELEASE}")
        start = time.monotonic()
        outcome = published.publish("--vars", "{dbt_anonymize_lock_timeout: 0.5}")
        assert time.monotonic() - start < 30
        assert not outcome.succeeded
        assert re.search(
            r"it is held by process \d+ \(user "
            + server.analyst
            + r", application monthly report\), and this build has waited for 0\.5 s\. The earlier",
            outcome.messages,
        )
        assert "min(zip)" not in outcome.messages
        assert published.state() == before
        assert server.query(f"select 1 from {RELEASE} limit 1", server.analyst)
    assert published.publish().succeeded


@pytest.mark.parametrize("seconds", ["0", "'5'", "true"])
def test_a_lock_timeout_that_is_none_is_refused(published: Published, seconds: str) -> None:
    before = published.state()
    outcome = published.publish("--vars", f"{{dbt_anonymize_lock_timeout: {seconds}}}")
    assert not outcome.succeeded
    assert "dbt_anonymize_lock_timeout must be a number of seconds above 0; got" in outcome.messages
    assert published.state() == before


def test_of_two_builds_at_once_the_second_waits(published: Published) -> None:
    server, project = published.server, published.project
    numbers = "select release from shop.customers_register order by 1"
    before = server.query(numbers)
    seconds: list[subprocess.Popen[str]] = []
    other = project.copy(project.folder.parent / "other")

    def start_second(_: list[str], sql: str, __: int) -> None:
        if "insert into" not in sql or "customers_register" not in sql:
            return
        command = [sys.executable, "-m", "dbt.cli.main", "run", "-s", "customers_anonymized"]
        seconds.append(
            subprocess.Popen(
                [*command, "--profiles-dir", str(other.folder)],
                cwd=other.folder,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        waiting = (
            "select 1 from pg_stat_activity where wait_event_type = 'Lock'"
            " and wait_event = 'advisory' and application_name = 'dbt'"
        )
        end = time.monotonic() + 120
        while not server.query(waiting):
            assert time.monotonic() < end, "the second does not wait"
            time.sleep(0.05)

    with before_statements(start_second):
        outcome = published.publish()
    assert outcome.succeeded, outcome.messages
    (second,) = seconds
    said, _ = second.communicate(timeout=120)
    assert second.returncode == 0, said
    last = before[-1][0]
    assert server.query(numbers) == [*before, (last + 1,), (last + 2,)]
    assert not [name for _, name in published.state()[-1] if "__dbt_" in name]


def test_what_a_command_writes_is_written_whole(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the COMMIT of dbt, of which the driver does not know, it begins a transaction again."""
    monkeypatch.setenv("DBT_PROFILES_DIR", str(published.project.folder))
    with open_warehouse(find_project(published.project.folder)) as warehouse:
        for _ in range(2):
            with contextlib.suppress(psycopg2.Error), warehouse.transaction() as cursor:
                cursor.execute("create table shop.half (number integer)")
                cursor.execute("insert into shop.half values (1 / 0)")
            assert warehouse.rows("select to_regclass('shop.half')") == [(None,)]


def test_an_older_snapshot_finds_no_rows_and_never_a_mixture(published: Published) -> None:
    """As SECURITY.md says: catalogs have no versions."""
    server = published.server
    with server.connection(server.analyst) as connection:
        cursor = connection.cursor()
        cursor.execute("begin isolation level repeatable read; select 1")
        assert published.publish().succeeded
        cursor.execute(f"select count(*) from {RELEASE}")
        assert cursor.fetchone()[0] == 0
    assert server.query(f"select count(*) from {RELEASE}", server.analyst)[0][0] > 300


@pytest.mark.needs("differential_privacy")
def test_what_a_private_release_costs_is_paid_with_it(server: Server, tmp_path: Path) -> None:
    there = sampled_and_private(tmp_path / "there")
    for path in (there.folder / "anonymizations").glob("surveyed.yml"):
        path.unlink()
    write(there, changed(release={"effort": 1}))
    project = on_postgres(there, tmp_path / "project", server)
    connect(project, server, "lab")
    grants = {"shielded": {"shielded_anonymized": {"+grants": {"select": [server.analyst]}}}}
    project.edit(
        "dbt_project.yml",
        lambda text: yaml.safe_dump({**yaml.safe_load(text), "models": {"shop": grants}}),
    )
    built = command(project, "build", "shielded")
    assert built.exit_code == 0, built.output
    paid = "select anonymization, epsilon from lab_vault.dbt_anonymize_budget"
    assert server.query(paid) == [("shielded", 1.0)]
    server.query("delete from lab_vault.dbt_anonymize_budget")
    settings = (project.folder / "dbt_project.yml").read_text(encoding="utf-8")
    project.edit("dbt_project.yml", lambda text: text.replace("select:", "selekt:"))
    assert not project.dbt("run", "-s", "shielded_anonymized").succeeded
    assert server.query(paid) == []
    project.edit("dbt_project.yml", lambda _: settings)
    for _ in range(2):  # the second publishes the same, which costs nothing
        outcome = project.dbt("run", "-s", "shielded_anonymized")
        assert outcome.succeeded, outcome.messages
        assert server.query(paid) == [("shielded", 1.0)]
