"""Recompute releases where new records wait, from the members that the vault remembers."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.midpoints import with_midpoints
from dbt_anonymize.verify.recomputation.tables import Tables


def released_members(tables: Tables, spec: Spec) -> str:
    """Return the query of the release: the row of each member, with named columns."""
    names, released = [*spec.generalized_columns, *spec.kept_columns], spec.released_columns
    columns = [
        f"members.v_{n} as {quote_name(name)}"
        for n, name in enumerate(names, start=1)
        if name in released
    ]
    mapped = {"class": ["members.cqi"], "token": ["tokens.token"], "none": []}[spec.mapping]
    join = ""
    if spec.mapping == "token":
        join = (
            f"left join {tables.tokens} as tokens "
            f"on members.record_key = {tables.text('tokens.person')}"
        )
    rows = (
        f"select {', '.join(columns + mapped)} from {tables.members} as members {join} "
        "where members.left_at is null"
    )
    return with_midpoints(tables, spec, rows)


def members_findings(tables: Tables, spec: Spec, effort: str) -> Iterator[Finding]:
    """Compare the members with the source, and count members that joined or left together.

    ``effort`` is the query of all records as they follow from the source. Waiting members may be
    released as before; all others must be released as they follow from the source.
    """
    names = [*spec.generalized_columns, *spec.kept_columns]
    same = " and ".join(
        f"members.v_{n} is not distinct from rows_.{quote_name(name)}"
        for n, name in enumerate(names, start=1)
    )
    key = tables.text(f"rows_.{quote_name(spec.record_key)}")
    ((members, waiting, wrong),) = tables.rows(
        "select count(*), count(*) filter (where plan.state in ('leaving', 'changing')), "
        "count(*) filter (where plan.state in ('leaving', 'changing') is not true "
        f"and (({same}) and rows_.equivalence_class = members.cqi) is not true) "
        f"from {tables.members} as members left join ({effort}) as rows_ "
        f"on members.record_key = {key} left join {tables.membership} as plan "
        "on plan.record_key = members.record_key and plan.cqi = members.cqi "
        "where members.left_at is null"
    )
    message = (
        f"{members:,} members are released as their records are, or wait ({waiting:,}) to leave or "
        "to change."
    )
    if wrong:
        message = (
            f"every member must be released as its record is, or wait; {wrong:,} of {members:,} "
            "are not. Do not use this release; build again."
        )
    yield Finding("recomputation", f"{spec.name}_members", not wrong, message)
    k = spec.guarantees.k_anonymity.k
    ((groups, few),) = tables.rows(
        f"select count(*), count(*) filter (where records < {k}) from (select count(*) as records "
        f"from {tables.members} group by cohort, entered, left_at) as together"
    )
    message = f"{groups:,} groups joined or left together, each of at least {k} records."
    if few:
        message = (
            f"those who joined or left a class together must be at least {k}; {few:,} of "
            f"{groups:,} groups are smaller, so that the difference of two releases shows them. "
            "Do not use this release; restore the vault from a backup."
        )
    yield Finding("guarantees", "who joined or left", not few, message)
