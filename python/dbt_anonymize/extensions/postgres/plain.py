"""Postgres without dbt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dbt_anonymize.project.engines.plain import STRICT, Plain

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse

_COLUMNS = (
    "select column_name, data_type from information_schema.columns "
    "where table_schema = %s and table_name = %s order by ordinal_position"
)


@dataclass(frozen=True, config=STRICT)
class Postgres:
    """Credentials of dbt-postgres."""

    type: Literal["postgres"]
    host: str
    port: Annotated[int, Field(ge=0, le=65535)]
    user: str
    password: str
    database: str
    schema: str
    threads: int = 1
    connect_timeout: int = 10
    keepalives_idle: int = 0
    sslmode: str | None = None


def _columns(warehouse: Warehouse, relation: Any) -> list[tuple[str, str]]:
    rows = warehouse.rows(_COLUMNS, [relation.schema, relation.identifier])
    return [(name, kind) for name, kind in rows]


def connect(credentials: Any) -> Any:
    """Connect as dbt does, by its credentials or those that were read without it."""
    import psycopg2  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)

    named = {"keepalives_idle": credentials.keepalives_idle, "sslmode": credentials.sslmode}
    return psycopg2.connect(
        dbname=credentials.database,
        user=credentials.user,
        host=credentials.host,
        password=credentials.password,
        port=credentials.port,
        connect_timeout=credentials.connect_timeout,
        application_name="dbt",
        **{name: value for name, value in named.items() if value},
    )


PLAIN = Plain(
    credentials=Postgres,
    relations=(
        "select current_database(), schemaname, tablename from pg_tables union all "
        "select current_database(), schemaname, viewname from pg_views union all "
        "select current_database(), schemaname, matviewname from pg_matviews"
    ),
    columns=_columns,
    connect=connect,
    aliases={"dbname": "database", "pass": "password"},
)
