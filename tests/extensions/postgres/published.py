"""A release on Postgres, and what others find of it while it is published anew."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.extensions.postgres.server import Server
from tests.projects import Outcome, Project

RELEASE = "shop_release.customers_anonymized"
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

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Have the analyst count its rows on and on, in old and new sessions; none may fail."""
        stop = threading.Event()

        def read_on(of_a_session: int) -> int:
            looks = 0
            while not stop.is_set():
                with self.server.connection(self.server.analyst) as connection:
                    cursor = connection.cursor()
                    for _ in range(of_a_session):
                        cursor.execute(f"select count(*) from {RELEASE}")
                        assert cursor.fetchone()[0] > 300
                        looks += 1
            return looks

        with ThreadPoolExecutor(2) as threads:
            readers = [threads.submit(read_on, number) for number in (10, 1000)]
            try:
                yield
            finally:
                stop.set()
            assert all(reader.result() > 20 for reader in readers)


@contextlib.contextmanager
def before_statements(
    act: Callable[[list[str], str, int], None], node: str = "model.shop.customers_anonymized"
) -> Iterator[list[str]]:
    """Do something before each statement of the release: what ran, what will, and the session."""
    from dbt.adapters.postgres.connections import PostgresConnectionManager

    add_query = PostgresConnectionManager.add_query
    seen: list[str] = []

    def watched(self: Any, sql: str, *arguments: Any, **more: Any) -> Any:
        connection = self.get_thread_connection()
        if connection.name == node:
            act(seen, sql, connection.handle.get_backend_pid())
            seen.append(sql.rpartition("*/")[2].strip().lower())
        return add_query(self, sql, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresConnectionManager, "add_query", watched)
        yield seen
