"""The bytes of DuckDB files: deleted rows stay in a file until it is written anew."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import duckdb

from dbt_anonymize.errors import VaultError, safe_reason
from dbt_anonymize.extensions.identifier_search.byte_search import BytePatterns
from dbt_anonymize.literals import quote_name, quote_path
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.audit import content_of, objects_of

# Shorter texts match by accident.
SHORTEST = 6


def rewrite_files(warehouse: Warehouse, databases: Collection[str]) -> list[Path]:
    """Rewrite attached database files, without deleted rows; return the files.

    The connection must not write afterwards: it still has the earlier files open. A file that
    cannot be rewritten is a `VaultError`, and stays as it was.
    """
    rows = warehouse.rows("select database_name, path, encrypted from duckdb_databases()")
    places = {name: (Path(path), encrypted) for name, path, encrypted in rows if path}
    files = []
    for database in dict.fromkeys(databases):
        path, is_encrypted = places.get(database, (Path(), False))
        if not path.is_file():
            continue
        try:
            if is_encrypted:
                raise VaultError(
                    f"{path}: an encrypted file would lose its encryption by being written anew. "
                    "Copy it into a new encrypted file yourself (COPY FROM DATABASE)."
                )
            _rewrite(warehouse, database, path)
        except (duckdb.Error, OSError) as error:
            raise VaultError(
                f"{path}: must be written anew, so that deleted rows are gone from its bytes; it "
                f"could not be ({safe_reason(error)}). It is unchanged. See that the disk has room "
                "for a second copy and that nothing else has the file open, and erase again."
            ) from None
        files.append(path.absolute())
    return files


def _rewrite(warehouse: Warehouse, database: str, path: Path) -> None:
    path = path.resolve()
    cursor = warehouse.cursor()
    fresh = path.with_name(f".{path.name}.rewritten")
    for left_over in (fresh, Path(f"{fresh}.wal")):
        left_over.unlink(missing_ok=True)
    old, new = quote_name(database), f"rewritten_{secrets.token_hex(8)}"
    warehouse.adapter.connections.clear_transaction()
    cursor.execute(f"force checkpoint {old}")
    cursor.execute(f"attach {quote_path(fresh)} as {new}")
    try:
        cursor.execute(f"copy from database {old} to {new}")
        _require_same(cursor, database, new)
        cursor.execute(f"checkpoint {new}")
        cursor.execute(f"detach {new}")
        fresh.chmod(stat.S_IMODE(path.stat().st_mode))
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        with suppress(duckdb.Error):
            cursor.execute(f"detach {new}")
        fresh.unlink(missing_ok=True)
        raise


def _require_same(cursor: duckdb.DuckDBPyConnection, old: str, new: str) -> None:
    if objects_of(cursor, old) != objects_of(cursor, new):
        raise duckdb.IOException("IO Error: the copy has other tables, views or the like")
    tables = cursor.execute(
        "select schema_name, table_name from duckdb_tables() where database_name = ?", [old]
    ).fetchall()
    for schema, table in tables:
        place = f"{quote_name(schema)}.{quote_name(table)}"
        contents = [
            content_of(cursor, f"{quote_name(database)}.{place}") for database in (old, new)
        ]
        if contents[0] != contents[1]:
            raise duckdb.IOException("IO Error: the copy of a table has other rows")


def files_with_texts(files: Collection[Path], texts: Collection[str]) -> Iterator[tuple[Path, int]]:
    """Yield files whose bytes hold texts, and how many; logs and spilled rows included."""
    patterns = BytePatterns(sorted({text.encode() for text in texts}))
    for file in files:
        beside = Path(f"{file}.tmp")
        spilled = [path for path in beside.rglob("*") if path.is_file()]
        for path in (file, Path(f"{file}.wal"), *spilled):
            if path.is_file() and (matches := int((patterns.occur_in_file(path) > 0).sum())):
                yield path, matches


def searchable_texts(texts: Collection[str]) -> list[str]:
    """Return the texts that are too long to match by accident."""
    return sorted(text for text in texts if len(text.encode()) >= SHORTEST)
