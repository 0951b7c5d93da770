"""The quasi-identifiers that a draft keeps of many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.names import said_by
from dbt_anonymize.drafting.proposal import Proposal, alone

# More quasi-identifiers leave nobody with others alike.
MOST_QUASI = 12


def limited(found: Sequence[Proposal], keep: Collection[ColumnFacts] = ()) -> list[Proposal]:
    """Return proposals with the quasi-identifiers that are known best; the others are dropped.

    What somebody wants to ``keep`` comes first. With many of them nearly everybody is alone, and
    every effort would be `*` everywhere.
    """
    quasi = [one for one in found if one.role == "quasi_identifier" and not one.is_target]
    kept = set(
        map(
            id,
            sorted(quasi, key=lambda one: (one.facts not in keep, *_obscurity(one)))[:MOST_QUASI],
        )
    )
    more = f"{len(quasi)} columns others could know are too many to generalize: "
    return [
        one
        if one not in quasi or id(one) in kept
        else replace(one, role="dropped", reason=f"{more}{MOST_QUASI} are kept; {alone(one.facts)}")
        for one in found
    ]


def _obscurity(one: Proposal) -> tuple[int, float, int]:
    """Rank a quasi-identifier: first what its name tells, what tells of the target, few values."""
    kinds = ("quasi_identifier", "sensitive")
    said = next((rank for rank, kind in enumerate(kinds) if said_by(one.name, kind)), len(kinds))
    return said, -(one.facts.tells or 0.0), one.facts.distinct
