"""The release file and what lies around it: plain tables, nothing else, and a closed vault."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.release.audit import about_table
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import Released

RELEASE_MODE = 0o644
_OTHERS = 0o077
# Bytes before the first block of a DuckDB file.
_HEADERS = 3 * 4096
# Everything that a file may hold beside tables.
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
    shown: str,
    *,
    comments: Mapping[str, str] | None = None,
) -> Iterator[Finding]:
    """Require a file with one plain table and nothing else, which everybody may read, nobody write.

    ``comments`` where there may be one that says what the release is, and these on columns.
    ``shown`` is what the file is called in findings. Room that holds nothing of a table may hold
    what was deleted: neither rows nor blocks may be left over, nor anything behind the last block.
    """
    tables = released.rows(
        "select schema_name, table_name from duckdb_tables() where not internal and not temporary"
    )
    # A release that was made before its spec said `about` has none.
    beside = {*tables} - {("main", table)}
    about = set() if comments is None else {("main", about_table(table))}
    is_known = beside <= about and ("main", table) in tables
    problems = [] if is_known else [f"{len(tables)} tables"]
    problems += _other_comments(released, table, comments or {})
    for kind, catalog in _CATALOG.items():
        ((number,),) = released.rows(
            f"select count(*) from {catalog} and database_name = current_database()"  # noqa: S608
        )
        problems += [f"{number} {kind}"] if number else []
    if not problems:
        for _, name in tables:
            problems += ["a table that is not plain"] if not _is_plain(released, name) else []
            problems += _left_rows(released, name)
        problems += _left_over(released, file)
    message = f"the file holds the table {table} and nothing else."
    if problems:
        message = (
            f"the file must hold the table {table} and nothing else; got {', '.join(problems)}. "
            "Delete the file and build again."
        )
    yield Finding("recomputation", shown, not problems, message)
    yield check_mode(file, shown)


def _other_comments(released: Released, table: str, comments: Mapping[str, str]) -> Iterator[str]:
    """Yield what is said of columns beside the comments of the released ones."""
    found = released.rows(
        "select table_name, column_name, comment from duckdb_columns() where comment is not null "
        "and database_name = current_database()"
    )
    others = [one for of, name, one in found if of != table or comments.get(name) != one]
    if others:
        yield f"{len(others)} columns with a comment or tag"


def check_mode(file: Path, shown: str) -> Finding:
    """Require that everybody may read a published file and only its owner write it."""
    mode = stat.S_IMODE(file.stat().st_mode)
    remedy = "." if mode == RELEASE_MODE else f"; it must be {RELEASE_MODE:o}. Build again."
    message = f"the mode of the file is {mode:o}{remedy}"
    return Finding("recomputation", shown, mode == RELEASE_MODE, message)


def _is_plain(released: Released, table: str) -> bool:
    """Tell whether a table is names and types alone: no collation, default or constraint."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    found = released.rows(
        "select column_name, data_type from duckdb_columns() where not internal "  # noqa: S608
        f"and table_name = {quote_text(table)} order by column_index"
    )
    columns = ", ".join(f"{quote_name(name)} {kind}" for name, kind in found)
    made = f"select sql from duckdb_tables() where table_name = {quote_text(table)}"  # noqa: S608
    with duckdb.connect() as plain:
        plain.execute(f"create table {quote_name(table)} ({columns})")
        return plain.execute(made).fetchall() == released.rows(made)


def _left_rows(released: Released, table: str) -> Iterator[str]:
    """Yield what a table has beside its rows."""
    ((records,),) = released.rows(f"select count(*) from {quote_name(table)}")  # noqa: S608
    ((stored, updated),) = released.rows(
        "select coalesce(max(stored), 0), coalesce(bool_or(updated), false) from "  # noqa: S608
        "(select sum(count) as stored, bool_or(has_updates) as updated from "
        f"pragma_storage_info({quote_text(table)}) where segment_type <> 'VALIDITY' "
        "group by column_id) as segments"
    )
    if stored != records or updated:
        yield "deleted or changed rows"


def _left_over(released: Released, file: Path) -> Iterator[str]:
    """Yield what a file has beside its tables."""
    ((block, blocks, free),) = released.rows(
        "select block_size, total_blocks, free_blocks from pragma_database_size()"
    )
    if free:
        yield f"{free} blocks that are free"
    if file.stat().st_size != blocks * block + _HEADERS or Path(f"{file}.wal").exists():
        yield "bytes that belong to no table"


def check_folder(folder: Path, shown: str, releases: Collection[Path]) -> Finding:
    """Require that nothing lies beside a release but ``releases``, the resolved paths of others.

    Names of other files are not told: they may be about people. ``shown`` is the name of the
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
    return Finding("recomputation", shown, not others, message)


def check_vault(file: Path, root: Path) -> Iterator[Finding]:
    """Require that only its owner may enter the vault's folder or read its file and log."""
    for path in (file.parent, file, Path(f"{file}.wal")):
        if not path.exists():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        shown = str(path.relative_to(root) if path.is_relative_to(root) else path)
        closed = "700" if path.is_dir() else "600"
        remedy = f"; others must not have access. Run `chmod {closed} {shown}`."
        yield Finding(
            "recomputation",
            shown,
            not mode & _OTHERS,
            f"the mode of the vault is {mode:o}{remedy if mode & _OTHERS else '.'}",
        )
