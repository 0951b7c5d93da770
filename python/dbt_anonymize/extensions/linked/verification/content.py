"""Content of a linked release: its tables and rows are those that follow from the sources."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.linked.declared import released_columns, released_key
from dbt_anonymize.extensions.linked.graph import as_bytes
from dbt_anonymize.extensions.linked.verification.expected import (
    IS_RELEASED,
    NEW_PARENT,
    RECORD,
    STATUS,
    ExpectedRecords,
    is_kept,
)
from dbt_anonymize.extensions.linked.verification.linked_release import LinkedRelease
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.release.audit import about_table
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.canonical import Comparer, Comparison

_REMEDY = "Do not use this release; build again."


def table_findings(release: LinkedRelease) -> Iterator[Finding]:
    """Require the declared tables and columns in the file, and no others."""
    subjects = f"{release.spec.name}_anonymized"
    wanted = {subjects, *map(release.name_of, release.linked)}
    held = {
        (str(of), str(table))
        for of, table in release.scratch.rows(
            "select schema_name, table_name from duckdb_tables() "
            f"where database_name = {quote_text(release.database)}"
        )
    }
    named = {(release.schema, table) for table in wanted}
    missing = sorted(wanted - {table for _, table in held & named})
    # Of a server only what is released is copied; whatever else is in the schema is counted there.
    others = len(held - named - {(release.schema, about_table(subjects))})
    others = others if release.place == "file" else 0
    message = f"the {release.place} holds {', '.join(sorted(wanted))} and no other table of data."
    if missing or others:
        message = (
            f"the {release.place} must hold {', '.join(sorted(wanted))} and no other table of "
            f"data; {', '.join(missing) or 'none'} missing, and {others} others are there. "
            f"{_REMEDY}"
        )
    yield Finding(
        "linked", f"tables of the release {release.place}", not (missing or others), message
    )
    for name, table in release.linked.items() if not missing else ():
        columns = list(released_columns(name, table))
        types = release.tables.types(f"select * from {release.released(name)}")
        message = "the columns are those that are declared."
        if list(types) != columns:
            lacking = [column for column in columns if column not in types]
            message = (
                f"the columns must be {', '.join(columns)}, in this order; "
                f"{', '.join(lacking) or 'none'} missing, and {len({*types} - {*columns})} others "
                f"are there. {_REMEDY}"
            )
        subject = f"release {release.place}, {release.name_of(name)}, columns"
        yield Finding("linked", subject, list(types) == columns, message)


def has_columns(release: LinkedRelease) -> bool:
    """Tell whether the file has all tables and columns that other findings read."""
    (held,) = release.scratch.row(
        f"select list(table_name || '.' || column_name) from duckdb_columns() "
        f"where database_name = {quote_text(release.database)}"
    )
    return all(
        f"{release.name_of(name)}.{column}" in held
        for name, table in release.linked.items()
        for column in released_columns(name, table)
    )


def row_findings(expected: ExpectedRecords, name: str) -> Iterator[Finding]:
    """Compare a linked table of the file, and that of the warehouse, with the expected rows."""
    release = expected.release
    comparer, rows = Comparer(release.tables), expected.rows(name)
    for subject, relation in (
        (release.name_of(name), release.built[name]),
        (f"release {release.place}, {release.name_of(name)}", release.released(name)),
    ):
        differing = comparer.differences(Comparison(subject, f"select * from {rows}", relation))
        message = "has exactly the rows that follow from the sources and what was decided."
        if differing:
            changed = _changed_columns(release, name, rows, relation)
            message = (
                "must have exactly the rows that follow from the sources and what was decided; "
                f"{differing}{f' ({changed})' if changed else ''}. {_REMEDY}"
            )
        yield Finding("linked", subject, not differing, message)


def _changed_columns(release: LinkedRelease, name: str, rows: str, relation: str) -> str:
    """Return the columns that differ in rows of the same key, and how many do."""
    key, types = quote_name(released_key(name)), release.tables.types(f"select * from {relation}")
    columns = [c for c in released_columns(name, release.linked[name])[1:] if c in types]
    if released_key(name) not in types or not columns:
        return ""
    differing = (
        f"count(*) filter (where {as_bytes(f'a.{quote_name(column)}')} is distinct from "
        f"{as_bytes(f'b.{quote_name(column)}')})"
        for column in columns
    )
    counts = release.scratch.row(
        f"select {', '.join(differing)} from {rows} as a inner join {relation} as b "
        f"on a.{key} = b.{key}"
    )
    changed = [f"{column} in {n:,}" for column, n in zip(columns, counts, strict=True) if n]
    return f"of the same key, {', '.join(changed)}" if changed else ""


def decision_findings(expected: ExpectedRecords, name: str) -> Iterator[Finding]:
    """Require one decision on each record of a released subject, and losses within the limit."""
    release, records = expected.release, expected.records[name]
    known = f"coalesce({STATUS} in ('released', 'raised', 'hidden', 'left out'), false)"
    undecided, repeated, stranded = release.scratch.row(
        f"select count(*) filter (where not {known}), "
        f"count(*) - count(distinct {as_bytes(RECORD)}), "
        f"count(*) filter (where {NEW_PARENT} is null and {STATUS} <> 'left out') "
        f"from {records} where {IS_RELEASED}"
    )
    (others,) = release.scratch.row(
        f"select count(*) from {release.decisions} where linked_table = {quote_text(name)} "
        f"and {as_bytes('record')} not in "
        f"(select {as_bytes(RECORD)} from {records} where {IS_RELEASED})"
    )
    problems = [
        f"{number:,} {what}"
        for number, what in (
            (undecided, "are undecided"),
            (repeated, "decided twice"),
            (stranded, "kept without the record that they lead over"),
            (others, "of somebody who is not released"),
        )
        if number
    ]
    message = "each record of a released subject is decided on once."
    if problems:
        message = (
            "each record of a released subject must be decided on once; "
            f"{', '.join(problems)}. {_REMEDY}"
        )
    subject = f"{release.spec.name}_linked_decisions_{release.effort}, {name}"
    yield Finding("linked", subject, not problems, message)
    yield _loss_finding(expected, name)


def _loss_finding(expected: ExpectedRecords, name: str) -> Finding:
    release = expected.release
    records, shown = release.scratch.row(
        f"select count(*), count(*) filter (where {is_kept()} and {STATUS} <> 'hidden') "
        f"from {expected.records[name]}"
    )
    lost, limit = records - shown, release.declared.limit_of(name)
    message = f"{lost:,} of {records:,} records are hidden or left out; at most {limit:.1%} may be."
    holds = lost <= limit * records + 1e-9
    if not holds:
        message += f" The source or the limit changed since the build. {_REMEDY}"
    return Finding("linked", f"{release.name_of(name)}, suppression", holds, message)
