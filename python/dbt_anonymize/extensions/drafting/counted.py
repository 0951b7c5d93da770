"""The draft of a spec that releases a table of counts, and no records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extension import draft_of
from dbt_anonymize.extensions.drafting.coded_table import count_combinations
from dbt_anonymize.extensions.drafting.counted_columns import FEW
from dbt_anonymize.extensions.drafting.table import Draft
from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec.of_extensions import owner_of

KEY = "table"


def drafting_function() -> Any:
    """Return the function that drafts a table; a `SpecError` says which extension is missing.

    It is given a `privacy.table.Table` with the counts of columns that are to be shown, as
    quasi-identifiers or ``sensitive``, their names in order, and by keyword ``sums`` (columns of
    amounts), ``people`` (how many are counted) and ``repeats`` (they may have several records). It
    returns the YAML of the key, or raises a `SpecError`.
    """
    found = draft_of(KEY)
    if found is None:
        raise SpecError(
            f"--dimensions drafts `{KEY}`. It belongs to the extension {owner_of(KEY)}, which is "
            "not here. Add that, or leave the option out."
        )
    return found


def with_kept_dimensions(drafted: Draft) -> Draft:
    """Show dimensions that no hierarchy fits as they are, if they have few values.

    With more values, or without any hierarchy in the draft, it is a `SpecError`.
    """
    for one in drafted.proposals:
        reason = drafted.failed.get(one.name)
        if reason and (one.facts.distinct > FEW or not drafted.plans):
            raise SpecError(f"--dimensions must name columns that a table can show. {reason}")
    proposals = [
        replace(one, role="insensitive") if one.name in drafted.failed else one
        for one in drafted.proposals
    ]
    return replace(drafted, proposals=proposals, failed={})


def check_amounts(warehouse: Warehouse, relation: Any, sums: Sequence[str]) -> None:
    """Raise a `SpecError` for a column with amounts below zero."""
    for name in sums:
        lowest, _ = TableColumn.find(warehouse, relation, name).number_ends()
        if lowest < 0:
            raise SpecError(
                f"--sums must name columns of amounts of at least 0; {name} has some below. Set "
                "them to NULL in a model before, or leave it out."
            )


def table_text(
    warehouse: Warehouse,
    relation: Any,
    drafted: Draft,
    dimensions: Sequence[str],
    sums: Sequence[str],
) -> str:
    """Count the cells and return the key of the spec."""
    plans = [drafted.plans[name] for name in dimensions if name in drafted.plans]
    kept = [name for name in dimensions if name not in drafted.plans]
    counts = count_combinations(warehouse, relation, plans, sensitive=kept).table
    subject, records = drafted.subject, drafted.proposals[0].facts.records
    text: str = drafting_function()(
        counts,
        dimensions,
        sums=sums,
        people=subject.facts.distinct if subject else records,
        repeats=subject is not None,
    )
    return text
