"""Linked tables in results and reports: what is promised of them, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.linked.declared import EffortKeys, keys_of
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.results import EffortResult
from dbt_anonymize.project.sections import Section, missing, number
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec


def promise(spec: Spec, effort: int) -> str:
    """Return what linked records tell of nobody in an effort, as a sentence.

    A spec without linked tables is a `TypeError`.
    """
    linked = keys_of(spec).linked
    if linked is None:
        raise TypeError("a spec must have linked tables, to promise something of them")
    known = (
        "all linked records"
        if linked.known_records == "all"
        else f"up to {pluralized(linked.known_records, 'linked record')}"
    )
    count = ", and how many there are," if linked.known_count else ""
    diverse = f", of whom at most 1 in {linked.l} share a sensitive value" if linked.l else ""
    k = max(spec.largest_k, spec.numbered_efforts[effort].k or 0)
    return (
        f"Whoever knows own values and {known}{count} of a person finds at least {k} "
        f"people who have the same{diverse}."
    )


def note_linked(warehouse: Warehouse, spec: Spec, chosen: EffortResult) -> Iterator[str]:
    """Yield the sentences of `results` on linked tables."""
    if not keys_of(spec).linked:
        return
    yield promise(spec, chosen.effort)
    relation = warehouse.relation_of_ref(f"{spec.name}_linked_losses")
    try:
        rows = warehouse.rows(
            "select linked_table, records, raised_records, hidden_records, left_out_records "  # noqa: S608
            f"from {relation} where effort = {chosen.effort} order by linked_table"
        )
    except WarehouseError:  # dropped since: commands that need it report it
        return
    losses = (
        f"{_percent(raised, records)} of {table} raised by a level"
        f"{raised_to_root(spec, chosen.effort, table)}, {_percent(hidden, records)} hidden and "
        f"{_percent(left_out, records)} left out"
        for table, records, raised, hidden, left_out in rows
    )
    yield f"Linked records: {'; '.join(losses)}."
    if not spec.is_tested:
        yield "QF is 1 - loss, the mean over the people's own table and each linked one."


def raised_to_root(spec: Spec, effort: int, table: str) -> str:
    """Return which columns show nothing of raised records, since the next level is the root."""
    levels = (cast(EffortKeys, spec.numbered_efforts[effort]).linked or {})[table]
    trees = keys_of(spec).linked_tables[table].quasi_identifiers
    names = [name for name, tree in trees.items() if levels[name] == tree.levels - 1]
    return f" ({', '.join(names)} to *)" if names else ""


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def sections(evidence: Evidence) -> list[Section]:
    """Return the section of a report on linked records."""
    spec, title = evidence.spec, "Linked tables"
    if not keys_of(spec).linked:
        return []
    rows = evidence.rows("linked_losses", effort=evidence.effort)
    if not rows:
        relation = f"{spec.name}_linked_losses"
        return [missing("linked", title, relation, f"dbt build -s +{relation}")]
    shares = [
        (
            str(row["linked_table"]),
            *(
                (number(row[part]) or 0) / max(1, number(row["records"]) or 0)
                for part in ("raised_records", "hidden_records", "left_out_records")
            ),
            number(row["largest_share"]),
            number(row["loss"]),
        )
        for row in rows
    ]
    return [
        Section(
            "linked",
            title,
            f"{promise(spec, evidence.effort or 0)} For that, quasi-identifiers of some linked "
            "records are raised by a level or hidden, and some records are left out, those of "
            "people who are left out among them. The limit is on those that are hidden or left "
            "out.",
            (
                "table",
                "share raised",
                "share hidden",
                "share left out",
                "largest share of the last two",
                "loss",
            ),
            shares,
            is_open=True,
        )
    ]
