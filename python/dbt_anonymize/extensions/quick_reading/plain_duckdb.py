"""DuckDB without dbt: ordinary outputs of a profile name a local file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dbt_anonymize.literals import quote_text
from dbt_anonymize.project.engines.plain import STRICT, Plain

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse

DUCKDB = "duckdb"
# With a colon it is a URL, a drive or in memory; what follows ? or # belongs to a URL.
_LocalFile = Annotated[str, Field(pattern=r"^[^:?#\n]+$")]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Scalar = str | int | bool
# dbt-duckdb writes others, and what is in quotes, in its own way.
_Option = Literal["storage_version", "encryption_key", "encryption_cipher", "block_size"]
_Unquoted = Annotated[str, Field(pattern=r"^[^'\"]*$")] | int


@dataclass(frozen=True, config=STRICT)
class Attachment:
    """A file of DuckDB beside the warehouse."""

    path: _LocalFile
    alias: _Word | None = None
    type: None = None
    read_only: bool = False
    options: Mapping[_Option, _Unquoted] | None = None


@dataclass(frozen=True, config=STRICT)
class DuckDB:
    """Credentials of dbt-duckdb."""

    type: Literal["duckdb"]
    # Of other names than <word>.<suffix>, versions of dbt-duckdb make different databases.
    path: Annotated[_LocalFile, Field(pattern=r"(^|/)\w[\w -]*(\.\w+)?$")]
    database: str
    schema: str = "main"
    threads: int = 1
    attach: tuple[Attachment, ...] | None = None
    config_options: Mapping[str, _Scalar] | None = None
    settings: Mapping[_Word, _Scalar] | None = None


def _with_database(output: dict[str, Any]) -> dict[str, Any]:
    """Name the database as its file; dbt-duckdb refuses another name."""
    database = Path(output["path"]).name.split(".")[0]
    if output.setdefault("database", database) != database:
        raise ValueError(output["database"])
    return output


def _columns(warehouse: Warehouse, relation: Any) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind, *_ in warehouse.rows(f"describe {relation}")]


def _connect(credentials: DuckDB) -> Any:
    import duckdb  # noqa: PLC0415 (slow to import)

    connection = duckdb.connect(credentials.path, config=dict(credentials.config_options or {}))
    try:
        for attachment in credentials.attach or ():
            connection.execute(_attach_statement(attachment))
        for name, value in (credentials.settings or {}).items():
            connection.execute(f"set {name} = {quote_text(str(value))}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def _attach_statement(attachment: Attachment) -> str:
    """Return the statement by which dbt-duckdb attaches a file."""
    options = ["READ_ONLY"] if attachment.read_only else []
    for name, value in (attachment.options or {}).items():
        options.append(f"{name} {quote_text(value) if isinstance(value, str) else value}")
    alias = f" as {attachment.alias}" if attachment.alias else ""
    clause = f" ({', '.join(options)})" if options else ""
    return f"attach if not exists {quote_text(attachment.path)}{alias}{clause}"


PLAIN = Plain(
    credentials=DuckDB,
    relations=(
        "select table_catalog, table_schema, table_name from system.information_schema.tables"
    ),
    columns=_columns,
    connect=_connect,
    completed=_with_database,
)
