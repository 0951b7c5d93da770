"""Publishing on Postgres is one transaction: the old release or the new one, with all about it."""

from __future__ import annotations

import contextlib
import itertools
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psycopg2
import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from tests.commands.conftest import command
from tests.postgres.server import Server
from tests.postgres.test_demonstration import on_postgres
from tests.projects import Outcome, Project
from tests.second_month.test_waiting import Customers, K, members_of

# A build of all, and of what waits; `make test` runs the smaller part in `test_demonstration`.
pytestmark = [pytest.mark.slow, pytest.mark.dbt]

RELEASE = "shop_release.customers_anonymized"
NODE = "model.shop.customers_anonymized"
SCHEMAS = "to_regnamespace('shop'), to_regnamespace('shop_release'), to_regnamespace('shop_vault')"


@dataclass(frozen=True)
class Published:
    """A project with a release, and what others find of it."""

    project: Project
    server: Server

    def publish(self, *arguments: str) -> Outcome:
        """Publish it anew."""
        return self.project.dbt("run", "-s", "customers_anonymized", *arguments)

    def state(self) -> tuple[Any, ...]:
        """Return the release, its readers, what register and vault say of it, and all relations."""
        tables = ("shop.customers_register", "shop_vault.customers_releases")
        return (
            self.server.query(f"select cast(cast('{RELEASE}' as regclass) as oid)"),
            self.server.query(
                "select cast(relacl as text), obj_description(oid) from pg_class where oid ="
                f" cast('{RELEASE}' as regclass)"
            ),
            *(Counter(map(str, self.server.query(f"select * from {t}"))) for t in tables),
            self.members(),
            self.server.query(
                "select relnamespace, relname from pg_class where relkind in ('r', 'v', 'm')"
                f" and relnamespace in ({SCHEMAS}) order by 1, 2"
            ),
        )

    def members(self) -> list[tuple[Any, ...]]:
        """Return whom the vault knows to be released, once new people wait."""
        known = self.server.query("select to_regclass('shop_vault.customers_members')")
        rows = "select record_key, cqi, entered, left_at from shop_vault.customers_members"
        return sorted(self.server.query(rows), key=str) if known[0][0] else []


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


@contextlib.contextmanager
def before_statements(act: Callable[[int, str], None]) -> Iterator[list[str]]:
    """Do something before each statement of the release, which has a number; give all of them."""
    from dbt.adapters.postgres.connections import PostgresConnectionManager

    add_query = PostgresConnectionManager.add_query
    seen: list[str] = []

    def watched(self: Any, sql: str, *arguments: Any, **more: Any) -> Any:
        if self.get_thread_connection().name == NODE:
            act(len(seen), sql)
            seen.append(sql)
        return add_query(self, sql, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresConnectionManager, "add_query", watched)
        yield seen


def end_sessions(server: Server) -> None:
    """End those of dbt, as a kill does: the server undoes what they have not committed."""
    server.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dbt'"
    )


def test_whenever_it_is_killed_all_is_as_it_was(joined: Published) -> None:
    """At every statement, and then not at all."""
    before = joined.state()
    number, statements = 0, 1000
    while number < statements:

        def kill(found: int, _: str, number: int = number) -> None:
            if found == number:
                end_sessions(joined.server)

        with before_statements(kill) as seen:
            outcome = joined.publish()
        if outcome.succeeded:
            # Only dbt's own commit comes after that of the transaction.
            assert [sql for sql in seen[number - 1 :] if "commit" not in sql.lower()] == []
            break
        assert joined.state() == before, seen[-1]
        statements = max(len(seen), number) + 2
        number += 1
    assert number > 30
    after = joined.state()
    assert all(one != other for one, other in zip(before[:5:2], after[:5:2], strict=True))
    assert after[5] == before[5]
    assert len(after[4]) == len(before[4]) + K


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
        "def model(dbt, session):\n    from dbt_anonymize.evaluation import evaluate\n",
        encoding="utf-8",
    )
    outcome = project.dbt("build", "-s", "evaluated", "customers_microdata")
    assert not outcome.succeeded
    assert "postgres runs no Python models, and evaluated is one." in outcome.messages
    assert "customers_microdata" not in "".join(outcome.statuses)


def test_a_reader_in_a_loop_never_fails(published: Published) -> None:
    def read_on(stop: threading.Event, number: int) -> int:
        looks = 0
        while not stop.is_set():
            with published.server.connection(published.server.analyst) as connection:
                for _ in range(20 * number):
                    cursor = connection.cursor()
                    cursor.execute(f"select count(*) from {RELEASE}")
                    assert cursor.fetchone()[0] > 300
                    looks += 1
        return looks

    stop = threading.Event()
    with ThreadPoolExecutor(2) as threads:
        readers = [threads.submit(read_on, stop, number) for number in (1, 50)]
        try:
            for _ in range(3):
                assert published.publish().succeeded
        finally:
            stop.set()
        assert all(reader.result() > 100 for reader in readers)


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

    def start_second(_: int, sql: str) -> None:
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
