"""Columns of linked tables that are released as they are: whom they find, and what they tell."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.linked.graph import Graph, as_bytes
from dbt_anonymize.extensions.linked.verification.expected import (
    NEW_KEY,
    RECORD,
    STATUS,
    SUBJECT,
    ExpectedRecords,
    is_kept,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.finding import Finding


def kept_findings(expected: ExpectedRecords, graph: Graph) -> Iterator[Finding]:
    """Say of each kept column what one known value of it would find; no guarantee counts it.

    Found is who has own labels and a value that fewer than k subjects share. A hidden record is
    told where all of its value that are released at their levels show the same labels, its own.
    """
    release = expected.release
    (people,) = release.scratch.row(f"select count(*) from {graph.subjects}")
    for name, table in release.linked.items():
        for column in table.kept_columns:
            found = _found(expected, graph, name, column)
            message = (
                f"released as it is, and taken as known to nobody: own values and one value of it "
                f"would find {found / max(1, people):.1%} of {people:,} people among fewer than "
                f"k = {release.k}."
            )
            hidden, told = _told(expected, name, column)
            if hidden:
                message += f" Of {hidden:,} hidden records it tells a label of {told / hidden:.1%}."
            if found or told:
                message += " If others may know it, make it a quasi-identifier."
            yield Finding("linked", f"{release.name_of(name)}.{column}", None, message)


def _found(expected: ExpectedRecords, graph: Graph, name: str, column: str) -> int:
    """Count the released subjects with a value that too few of the same own labels have."""
    value = as_bytes(f"records.{quote_name(column)}")
    (found,) = expected.release.scratch.row(
        f"with held as (select distinct subjects.class, subjects.subject, {value} as value "
        f"from {expected.records[name]} as records "
        f"inner join {expected.people} as people on records.{SUBJECT} = people.{RECORD} "
        f"inner join {graph.subjects} as subjects "
        f"on {as_bytes(f'people.{NEW_KEY}')} = subjects.key "
        f"where {is_kept('records')} and value is not null), "
        "shared as (select subject, count(*) over (partition by class, value) as subjects "
        "from held) "
        f"select count(distinct subject) from shared where subjects < {expected.release.k}"
    )
    return int(found)


def _told(expected: ExpectedRecords, name: str, column: str) -> tuple[int, int]:
    """Count the hidden records, and those of which the value tells a label."""
    release = expected.release
    labels = [
        as_bytes(quote_name(one))
        for one, tree in release.linked[name].quasi_identifiers.items()
        if release.levels(name)[one] < tree.levels  # at the root all labels are the same
    ]
    if not labels:
        return 0, 0
    places = range(len(labels))
    is_told = " or ".join(f"hidden.label_{n} = shown.label_{n}" for n in places)
    listed = ", ".join(f"{label} as label_{n}" for n, label in enumerate(labels))
    only = ", ".join(
        f"case when count(distinct label_{n}) = 1 then min(label_{n}) end as label_{n}"
        for n in places
    )
    hidden, told = release.scratch.row(
        f"with released as (select {STATUS} as status, {as_bytes(quote_name(column))} as value, "
        f"{listed} from {expected.records[name]} where {is_kept()}), "
        f"shown as (select value, {only} from released "
        "where status = 'released' and value is not null group by value) "
        f"select count(*), count(*) filter (where {is_told}) "
        "from released as hidden left join shown on hidden.value = shown.value "
        "where hidden.status = 'hidden'"
    )
    return int(hidden), int(told)
