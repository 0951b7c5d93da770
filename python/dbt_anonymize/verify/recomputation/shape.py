"""The release file and its surroundings: plain tables, nothing else, and a protected vault."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.release.audit import about_table
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import Released

RELEASE_MODE = 0o644
_OTHERS = 0o077
# Bytes before the first block of a DuckDB file.
_HEADERS = 3 * 4096
# Every kind of object in a file beside tables.
_CATALOG = {
    "schemas": "duckdb_schemas() where not internal and schema_name <> 'main'",
    "views": "duckdb_views() where not internal",
    "sequences": "duckdb_sequences() where true",
    "macros": "duckdb_functions() where not internal",
    "types": "duckdb_types() where not internal",
    "indexes": "duckdb_indexes() where true",
    "constraints": "duckdb_constraints() where true",
    **{
        f"{kind} with a comment or tag": f"duckdb_{kind}() where (comment is not null{tags})"
        for kind, tags in {
            "databases": "",
            "schemas": " or cardinality(tags) > 0",
            "tables": " or cardinality(tags) > 0",
        }.items()
    },
}


def check_file(
    released: Released,
    file: Path,
    table: str,
    printed: str,
    *,
    comments: Mapping[str, str] | None = None,
    tables_beside: Collection[str] = (),
) -> Iterator[Finding]:
    """Require a read-only file with one plain table, those ``tables_beside`` it and nothing else.

    With ``comments`` it may also hold the description of the release, and these comments on
    columns. ``printed`` is its name in findings. Unused space may hold deleted values: there must
    be no leftover rows or blocks, nor bytes behind the last block.
    """
    tables = released.rows(
        "select schema_name, table_name from duckdb_tables() where not internal and not temporary"
    )
    # A release from before its spec declared `about` has no description.
    beside = {*tables} - {("main", table)}
    about = set() if comments is None else {("main", about_table(table))}
    wanted = {("main", name) for name in (table, *tables_beside)}
    is_expected = beside <= about | wanted and wanted <= {*tables}
    problems = [] if is_expected else [f"{len(tables)} tables"]
    problems += _other_comments(released, table, comments or {})
    for kind, catalog in _CATALOG.items():
        ((number,),) = released.rows(
            f"select count(*) from {catalog} and database_name = current_database()"  # noqa: S608
        )
        problems += [f"{number} {kind}"] if number else []
    if not problems:
        for _, name in tables:
            problems += ["a table that is not plain"] if not _is_plain(released, name) else []
            problems += _leftover_rows(released, name)
        problems += _leftover_bytes(released, file)
    held = f"the {'tables' if tables_beside else 'table'} {', '.join([table, *tables_beside])}"
    message = f"the file holds {held} and nothing else."
    if problems:
        message = (
            f"the file must hold {held} and nothing else; got {', '.join(problems)}. "
            "Delete the file and build again."
        )
    yield Finding("recomputation", printed, not problems, message)
    yield check_mode(file, printed)


def _other_comments(released: Released, table: str, comments: Mapping[str, str]) -> Iterator[str]:
    """Yield the problem of comments on columns other than the expected ones."""
    rows = released.rows(
        "select table_name, column_name, comment from duckdb_columns() where comment is not null "
        "and database_name = current_database()"
    )
    others = sum(of != table or comments.get(name) != comment for of, name, comment in rows)
    if others:
        yield f"{pluralized(others, 'column')} with a comment or tag"


def check_mode(file: Path, printed: str) -> Finding:
    """Require that all may read a published file and only its owner may write it."""
    mode = stat.S_IMODE(file.stat().st_mode)
    remedy = "." if mode == RELEASE_MODE else f"; it must be {RELEASE_MODE:o}. Build again."
    message = f"the mode of the file is {mode:o}{remedy}"
    return Finding("recomputation", printed, mode == RELEASE_MODE, message)


def _is_plain(released: Released, table: str) -> bool:
    """Tell whether a table has only names and types: no collation, default or constraint."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    typed = released.rows(
        "select column_name, data_type from duckdb_columns() where not internal "  # noqa: S608
        f"and table_name = {quote_text(table)} order by column_index"
    )
    columns = ", ".join(f"{quote_name(name)} {kind}" for name, kind in typed)
    statement = f"select sql from duckdb_tables() where table_name = {quote_text(table)}"  # noqa: S608
    with duckdb.connect() as plain:
        plain.execute(f"create table {quote_name(table)} ({columns})")
        return plain.execute(statement).fetchall() == released.rows(statement)


def _leftover_rows(released: Released, table: str) -> Iterator[str]:
    """Yield the problem of deleted or changed rows that a table still stores."""
    ((records,),) = released.rows(f"select count(*) from {quote_name(table)}")  # noqa: S608
    ((stored, updated),) = released.rows(
        "select coalesce(max(stored), 0), coalesce(bool_or(updated), false) from "  # noqa: S608
        "(select sum(count) as stored, bool_or(has_updates) as updated from "
        f"pragma_storage_info({quote_text(table)}) where segment_type <> 'VALIDITY' "
        "group by column_id) as segments"
    )
    if stored != records or updated:
        yield "deleted or changed rows"


def _leftover_bytes(released: Released, file: Path) -> Iterator[str]:
    """Yield the problems of blocks and bytes that belong to no table."""
    ((block, blocks, free),) = released.rows(
        "select block_size, total_blocks, free_blocks from pragma_database_size()"
    )
    if free:
        yield f"{free} blocks that are free"
    if file.stat().st_size != blocks * block + _HEADERS or Path(f"{file}.wal").exists():
        yield "bytes that belong to no table"


def check_folder(folder: Path, printed: str, releases: Collection[Path]) -> Finding:
    """Require that nothing lies beside a release but ``releases``, the resolved paths of others.

    Names of other files are not printed: they may be about people. ``printed`` is the name of the
    folder.
    """
    others = sum(path.resolve() not in releases for path in folder.iterdir())
    message = "the folder holds releases of the project and nothing else."
    if others:
        message = (
            f"the folder must hold releases of the project and nothing else; got {others} other "
            "files or folders, which nothing has judged. Move them elsewhere; what a killed build "
            "left there, the next one removes."
        )
    return Finding("recomputation", printed, not others, message)


def check_vault(file: Path, root: Path) -> Iterator[Finding]:
    """Require that only its owner may enter the vault's folder or read its file and log."""
    for path in (file.parent, file, Path(f"{file}.wal")):
        if not path.exists():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        printed = str(path.relative_to(root) if path.is_relative_to(root) else path)
        closed = "700" if path.is_dir() else "600"
        remedy = f"; others must not have access. Run `chmod {closed} {printed}`."
        yield Finding(
            "recomputation",
            printed,
            not mode & _OTHERS,
            f"the mode of the vault is {mode:o}{remedy if mode & _OTHERS else '.'}",
        )
