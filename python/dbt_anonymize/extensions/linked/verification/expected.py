"""Linked records that follow from their sources, the hierarchies and what was decided.

Labels are looked up as in the recomputation of subjects, by code that the build does not share.
Which records are raised, hidden or left out is read from the decisions; the recount judges them.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.linked.declared import SUBJECTS, TOKEN, released_key
from dbt_anonymize.extensions.linked.graph import Rows, as_bytes
from dbt_anonymize.extensions.linked.verification.linked_release import LinkedRelease
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.verify.recomputation.canonical import normalize
from dbt_anonymize.verify.recomputation.labels import joined

# Columns of temporary tables, which have names that no declared column has.
RECORD, PARENT, SUBJECT = map(quote_name, ("key of record", "key of parent", "key of subject"))
NEW_KEY, NEW_PARENT = map(quote_name, ("new key of record", "new key of parent"))
STATUS, IS_RELEASED = map(quote_name, ("what was decided", "subject is released"))
KEY, PLACE = map(quote_name, ("key in the source", "place in the source"))


@dataclass(frozen=True)
class ExpectedRecords:
    """Temporary tables of all people and all their linked records, also those who are left out.

    Both have ``RECORD``, ``NEW_KEY``, ``IS_RELEASED`` and raw values, named by `value_of`; records
    also ``PARENT``, ``NEW_PARENT``, ``SUBJECT``, ``STATUS``, ``KEY``, ``PLACE``, their labels as if
    nothing was hidden, those one level up, named by `raised`, and kept columns.
    """

    release: LinkedRelease
    people: str
    records: Mapping[str, str]

    def rows(self, name: str) -> str:
        """Return the query of a linked table of the release."""
        table = self.release.linked[name]
        columns = [
            f"{NEW_KEY} as {quote_name(released_key(name))}",
            f"{NEW_PARENT} as {quote_name(table.released_parent)}",
        ]
        for generalization in self.release.generalizations(name).values():
            for column, root in generalization.root.items():
                quoted = quote_name(column)
                columns.append(
                    f"case {STATUS} when 'hidden' then {root} when 'raised' then {raised(column)} "
                    f"else {quoted} end as {quoted}"
                )
        columns += map(quote_name, table.kept_columns)
        return f"(select {', '.join(columns)} from {self.records[name]} where {is_kept()})"

    def unhidden(self) -> dict[str, Rows]:
        """Return the records of released subjects as if none was hidden or left out."""
        return {
            name: Rows(
                f"(select * from {self.records[name]} where {IS_RELEASED})",
                RECORD,
                table.generalized_columns,
                NEW_PARENT if table.over == SUBJECTS else PARENT,
                None if table.over == SUBJECTS else table.over,
            )
            for name, table in self.release.linked.items()
        }


def is_kept(alias: str = "") -> str:
    """Return the condition of records that are released, by source and decisions."""
    is_released, parent, status = (
        f"{alias}.{column}" if alias else column for column in (IS_RELEASED, NEW_PARENT, STATUS)
    )
    return (
        f"{is_released} and {parent} is not null and {status} in ('released', 'raised', 'hidden')"
    )


def value_of(column: str) -> str:
    """Return the quoted name of the column with the raw value of a quasi-identifier."""
    return quote_name(f"value of {column}")


def raised(column: str) -> str:
    """Return the quoted name of the column with a label or bound one level up."""
    return quote_name(f"{column} one level up")


def expect_records(release: LinkedRelease) -> ExpectedRecords:
    """Compute people and linked records from their sources."""
    people = _people(release)
    records: dict[str, str] = {}
    for name, table in release.linked.items():
        parents = people if table.over == SUBJECTS else records[table.over]
        records[name] = _records(release, name, parents)
    return ExpectedRecords(release, people, records)


def _people(release: LinkedRelease) -> str:
    spec, text = release.spec, release.tables.text
    values = "".join(f", rows_.{quote_name(n)} as {value_of(n)}" for n in spec.quasi_identifiers)
    key = text(f"rows_.{quote_name(spec.record_key)}")
    mapped = text(f"mapped.{quote_name(spec.record_key)}")
    return release.scratch.table(
        "people",
        f"select {key} as {RECORD}, {key} as {SUBJECT}, shown.{TOKEN} as {NEW_KEY}, "
        f"shown.{TOKEN} is not null as {IS_RELEASED}{values} "
        f"from {release.expected_subjects.source} as rows_ "
        f"left join {release.tables.identifiers} as mapped "
        f"on {as_bytes(key)} = {as_bytes(mapped)} "
        f"left join (select distinct {TOKEN} from {release.subjects}) as shown "
        f"on {as_bytes(f'mapped.{TOKEN}')} = {as_bytes(f'shown.{TOKEN}')}",
    )


def _records(release: LinkedRelease, name: str, parents: str) -> str:
    table, text = release.linked[name], release.tables.text
    source = _source(release, name)
    key, generalizations = text(f"rows_.{quote_name(table.key)}"), release.generalizations(name)
    labels, above = (
        joined(
            generalization.label(
                source,
                f"rows_.{quote_name(column)}",
                min(release.levels(name)[column] + up, generalization.hierarchy.levels),
                f"tree_{n}_{up}",
            )
            for n, (column, generalization) in enumerate(generalizations.items())
        )
        for up in (0, 1)
    )
    columns = [
        *(f"rows_.{quote_name(column)} as {value_of(column)}" for column in generalizations),
        *(f"{sql} as {quote_name(column)}" for column, sql in labels.columns.items()),
        *(f"{sql} as {raised(column)}" for column, sql in above.columns.items()),
        *(f"rows_.{quote_name(column)}" for column in table.kept_columns),
    ]
    decided = (
        f"select record, status, released_key from {release.decisions} "
        f"where linked_table = {quote_text(name)}"
    )
    return release.scratch.table(
        name,
        f"select {key} as {RECORD}, parents.{RECORD} as {PARENT}, parents.{SUBJECT}, "
        f"parents.{IS_RELEASED}, parents.{NEW_KEY} as {NEW_PARENT}, decided.status as {STATUS}, "
        f"decided.released_key as {NEW_KEY}, rows_.{quote_name(table.key)} as {KEY}, "
        f"rows_.{PLACE}, {', '.join(columns)} from {source} as rows_ "
        f"inner join {parents} as parents "
        f"on {as_bytes(f'rows_.{quote_name(table.parent)}')} = {as_bytes(f'parents.{RECORD}')} "
        f"left join ({decided}) as decided "
        f"on {as_bytes(key)} = {as_bytes('decided.record')} {labels.join} {above.join}",
    )


def _source(release: LinkedRelease, name: str) -> str:
    """Return a linked table as it is now, with NULL for values that a hierarchy lacks."""
    table, relation = release.linked[name], release.sources[name]
    types = release.tables.types(f"select * from {relation}")
    generalizations = release.generalizations(name)
    needed = [table.key, table.parent, *generalizations, *table.kept_columns]
    if missing := [column for column in needed if column not in types]:
        raise VerificationError(
            f"the source of the linked table {name} must have the declared columns; missing: "
            f"{', '.join(missing)}. Correct anonymizations/{release.spec.name}.yml."
        )
    columns = []
    for column in needed:
        value = normalize(quote_name(column), types[column])
        if column in generalizations:
            generalizations[column].require_well_formed(release.tables)
            value = generalizations[column].null_if_unknown(value)
        columns.append(f"{value} as {quote_name(column)}")
    numbered = f"select *, row_number() over () as {PLACE} from {relation}"
    return release.scratch.table(
        f"source_{name}", f"select {', '.join(columns)}, {PLACE} from ({numbered})"
    )
