"""What a release is made of: its file, its columns, and the text that names each class."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from dbt_anonymize.literals import quote_text
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import Released

RELEASE_MODE = 0o644
_OTHERS = 0o077
# Everything that a file may hold beside tables.
_CATALOG = {
    "schemas": "duckdb_schemas() where not internal and schema_name <> 'main'",
    "views": "duckdb_views() where not internal",
    "sequences": "duckdb_sequences() where true",
    "macros": "duckdb_functions() where not internal",
    "types": "duckdb_types() where not internal",
    "indexes": "duckdb_indexes() where true",
    "columns with a comment": "duckdb_columns() where not internal and comment is not null",
    "columns with a default": "duckdb_columns() where not internal and column_default is not null",
    "constraints": "duckdb_constraints() where true",
}


def check_columns(spec: Spec, released: Released) -> Finding:
    """Require exactly the declared columns, in order; any other would be a leak."""
    expected = spec.released_columns
    subject = f"{spec.name}_anonymized"
    if list(released.columns) == expected:
        message = f"the release has exactly the {len(expected)} declared columns."
        return Finding("guarantees", subject, True, message)
    more = [name for name in released.columns if name not in expected]
    missing = [name for name in expected if name not in released.columns]
    message = (
        "the release must have exactly the declared columns, in order; "
        f"not declared: {', '.join(more) or 'none'}; missing: {', '.join(missing) or 'none'}. "
        "Run `dbt-anonymize generate` and build again."
    )
    return Finding("guarantees", subject, False, message)


def check_file(spec: Spec, released: Released, file: Path, shown: str) -> Iterator[Finding]:
    """Require a file with one table and nothing else, which everybody may read and nobody write.

    ``shown`` is what the file is called in findings.
    """
    table = f"{spec.name}_anonymized"
    tables = released.rows(
        "select schema_name, table_name, comment is not null from duckdb_tables() "
        "where not internal and not temporary"
    )
    found = {
        kind: released.rows(
            f"select count(*) from {catalog} and database_name = current_database()"  # noqa: S608
        )[0][0]
        for kind, catalog in _CATALOG.items()
    }
    others = [f"{number} {kind}" for kind, number in found.items() if number]
    holds = tables == [("main", table, False)] and not others
    message = f"the file holds the table {table} and nothing else."
    if not holds:
        message = (
            f"the file must hold the table {table} and nothing else; got {len(tables)} tables"
            f"{''.join(f', {other}' for other in others)}. Delete the file and build again."
        )
    yield Finding("guarantees", shown, holds, message)
    mode = stat.S_IMODE(file.stat().st_mode)
    yield Finding(
        "guarantees",
        shown,
        mode == RELEASE_MODE,
        f"the mode of the file is {mode:o}"
        + ("." if mode == RELEASE_MODE else f"; it must be {RELEASE_MODE:o}. Build again."),
    )


def check_folder(folder: Path, shown: str, releases: Collection[Path]) -> Finding:
    """Require that nothing lies beside a release but other releases of the project.

    Names of other files are not told: they may be about people.

    Parameters
    ----------
    folder : Path
        Folder of the release, which everybody may read.
    shown : str
        What it is called in the finding.
    releases : collection of Path
        Resolved paths of the releases of the project.
    """
    others = sum(path.resolve() not in releases for path in folder.iterdir())
    message = "the folder holds releases of the project and nothing else."
    if others:
        message = (
            f"the folder must hold releases of the project and nothing else; got {others} other "
            "files or folders, which nothing has judged. Move them elsewhere; what a killed build "
            "left there, the next one removes."
        )
    return Finding("guarantees", shown, not others, message)


def check_vault(file: Path, root: Path) -> Iterator[Finding]:
    """Require that nobody but its owner may enter the vault's folder or read its file and log.

    Findings name them as seen from ``root``.
    """
    for path in (file.parent, file, Path(f"{file}.wal")):
        if not path.exists():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        shown = str(path.relative_to(root) if path.is_relative_to(root) else path)
        closed = "700" if path.is_dir() else "600"
        remedy = f"; others must not have access. Run `chmod {closed} {shown}`."
        yield Finding(
            "guarantees",
            shown,
            not mode & _OTHERS,
            f"the mode of the vault is {mode:o}{remedy if mode & _OTHERS else '.'}",
        )


def check_row_order(spec: Spec, released: Released) -> Finding:
    """Require that rows are in the order of the released columns, the mapping last.

    Any other order could be that of the source, and tell whose the rows are.
    """
    columns = ", ".join(map(released.quoted, released.columns))
    ((misplaced,),) = released.rows(
        "select count(*) from (select place < lag(place) over (order by number) as is_misplaced "  # noqa: S608
        f"from (select records as number, dense_rank() over (order by {columns}) as place "
        # Not rowid, which may be a column of its own; no source may have one called `records`.
        f"from (select *, row_number() over () as records from {released.relation}) as rows_"
        ") as ranked) as judged where is_misplaced"
    )
    message = "the rows are in the order of what is released."
    if misplaced:
        message = (
            "the rows must be in the order of the released columns, so that their order tells "
            f"nothing else; {misplaced:,} are not. Build again."
        )
    return Finding("guarantees", f"{spec.name}_anonymized, order of rows", not misplaced, message)


def check_null_labels(spec: Spec, released: Released) -> Iterator[Finding]:
    """Require that no label, bound or text of a class is NULL: NULL in the source is `*`."""
    columns = [*spec.generalized_columns, *spec.mapping_columns]
    counted = ", ".join(f"count(*) - count({released.quoted(name)})" for name in columns)
    (counts,) = released.rows(f"select {counted} from {released.relation}")  # noqa: S608
    missing = [
        f"{number} in {name}" for name, number in zip(columns, counts, strict=True) if number
    ]
    message = "no label is NULL."
    if missing:
        message = f"labels must not be NULL; got {', '.join(missing)}. Build again."
    yield Finding("guarantees", "labels", not missing, message)


def check_class_text(spec: Spec, released: Released) -> Iterator[Finding]:
    """Require that ``cqi`` is written from the labels, and that no two classes share one."""
    if spec.mapping != "class":
        return
    labels = list(map(released.bytes_of, spec.generalized_columns))
    cqi = released.bytes_of("cqi")
    (counts,) = released.rows(
        "select "  # noqa: S608
        f"(select count(*) from (select distinct {', '.join(labels)} "
        f"from {released.relation}) as l),"
        f"(select count(*) from (select distinct {cqi} from {released.relation}) as c),"
        f"(select count(*) from (select distinct {cqi}, {', '.join(labels)} "
        f"from {released.relation}) as b),"
        f"(select count(*) from {released.relation} where cqi <> {_expected_text(spec, released)})"
    )
    holds = len(set(counts[:3])) == 1 and counts[3] == 0
    message = f"each of {counts[0]:,} classes has its own cqi, written from its labels."
    if not holds:
        message = (
            "cqi must be written from the labels, one for each class; got "
            f"{counts[1]:,} for {counts[0]:,} classes, and {counts[3]:,} records with another text "
            "than that of their labels. Build again."
        )
    yield Finding("guarantees", f"{spec.name}_anonymized.cqi", holds, message)


def _expected_text(spec: Spec, released: Released) -> str:
    """Return how ``cqi`` is documented: type, length and text of each label, joined by bars."""
    parts = []
    for name, hierarchy in spec.quasi_identifiers.items():
        tag = "n" if hierarchy.kind == "interval" else "t"
        label = released.quoted(name)
        parts.append(f"{quote_text(tag)} || length({label}) || ':' || {label}")
    return "(" + " || '|' || ".join(parts) + ")"


def check_tokens(spec: Spec, released: Released) -> Iterator[Finding]:
    """Require a token of its own for each record: two with the same belong to one person."""
    if spec.mapping != "token":
        return
    ((records, tokens),) = released.rows(
        f"select count(*), count(distinct {released.bytes_of('token')}) from {released.relation}"  # noqa: S608
    )
    message = f"each of {records:,} records has a token of its own."
    if records != tokens:
        message = (
            f"each record must have a token of its own; got {tokens:,} tokens for {records:,} "
            "records, so that records of one person can be joined. Build again."
        )
    yield Finding("guarantees", f"{spec.name}_anonymized.token", records == tokens, message)
