"""A database of its own on a Postgres server that is given, with roles of three kinds."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

VARIABLE = "DBT_ANONYMIZE_POSTGRES"


@dataclass(frozen=True)
class Server:
    """A database, and who may log into it.

    `builder` runs dbt and owns what it makes; `custodian` is a member of the role `custodians`,
    which the project declares; `analyst` reads releases. All have one password.
    """

    host: str
    port: int
    database: str
    builder: str
    custodians: str
    custodian: str
    analyst: str
    password: str

    @contextlib.contextmanager
    def connection(self, user: str) -> Iterator[Any]:
        """Log in; every statement is a transaction of its own."""
        import psycopg2

        connection = psycopg2.connect(
            host=self.host, port=self.port, dbname=self.database, user=user, password=self.password
        )
        connection.autocommit = True
        try:
            yield connection
        finally:
            connection.close()

    def query(self, sql: str, user: str | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of a query, of the builder unless somebody else is named."""
        with self.connection(user or self.builder) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    @property
    def version(self) -> str:
        """The first number of the version."""
        ((number,),) = self.query("show server_version_num")
        return str(int(number) // 10000)

    def refuses(self, sql: str, user: str) -> bool:
        """Tell whether a user lacks the rights for a statement."""
        import psycopg2.errors

        try:
            self.query(sql, user)
        except psycopg2.errors.InsufficientPrivilege:
            return True
        return False

    def output(self, user: str) -> dict[str, Any]:
        """Return a target of a dbt profile."""
        return {
            "type": "postgres",
            "host": self.host,
            "port": self.port,
            "user": user,
            "password": self.password,
            "dbname": self.database,
            "schema": "shop",
            "threads": 2,
        }


@contextlib.contextmanager
def temporary_server(url: str) -> Iterator[Server]:
    """Make database and roles, and drop them again; the user of the URL must be allowed to."""
    import psycopg2
    from psycopg2.sql import SQL, Identifier, Literal

    parts = urlsplit(url)
    name = f"dbt_anonymize_{secrets.token_hex(4)}"
    roles = [f"{name}_{kind}" for kind in ("builder", "custodians", "custodian", "analyst")]
    server = Server(
        parts.hostname or "localhost", parts.port or 5432, name, *roles, secrets.token_hex(8)
    )
    connection = psycopg2.connect(
        host=server.host,
        port=server.port,
        dbname=unquote(parts.path.lstrip("/")) or "postgres",
        user=unquote(parts.username or "postgres"),
        password=unquote(parts.password or ""),
    )
    connection.autocommit = True

    def run(text: str, *names: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                SQL(text).format(*map(Identifier, names), password=Literal(server.password))
            )

    try:
        run("create role {}", server.custodians)
        for user in (server.builder, server.custodian, server.analyst):
            run("create role {} login password {password}", user)
        run("grant {} to {}", server.custodians, server.custodian)
        run("create database {} owner {}", name, server.builder)
        yield server
    finally:
        run("drop database if exists {} with (force)", name)
        for role in roles:
            run("drop role if exists {}", role)
        connection.close()


@dataclass
class Watch:
    """Watch on the readable rows of a schema, sampled while something else runs."""

    server: Server
    user: str
    schema: str
    ignored: Sequence[str] = ()
    looks: int = 0
    readable: set[str] = field(default_factory=set)
    _error: Exception | None = None

    def _watch(self, stop: threading.Event) -> None:
        """Keep what ends the thread, which nobody else would hear of."""
        try:
            self._look(stop)
        except Exception as error:
            self._error = error

    def _look(self, stop: threading.Event) -> None:
        with self.server.connection(self.server.builder) as connection:
            cursor = connection.cursor()
            while not stop.is_set():
                cursor.execute(
                    "select relname from pg_class join pg_namespace on relnamespace ="
                    " pg_namespace.oid where nspname = %s and relkind in ('r', 'v', 'm')"
                    " and has_table_privilege(%s, pg_class.oid, 'select')",
                    [self.schema, self.user],
                )
                self.readable |= {name for (name,) in cursor.fetchall()} - {*self.ignored}
                self.looks += 1
                time.sleep(0.002)

    @contextlib.contextmanager
    def running(self) -> Iterator[Watch]:
        """Look until the end of the block; whoever did not look that long has seen nothing."""
        stop = threading.Event()
        thread = threading.Thread(target=self._watch, args=[stop])
        thread.start()
        try:
            yield self
        finally:
            was_looking = thread.is_alive()
            stop.set()
            thread.join()
        if self._error is not None:
            raise self._error
        assert was_looking
