"""The column that says whose record it is, where people have several."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import is_key, is_key_of_person, said_by
from dbt_anonymize.extensions.drafting.proposal import Proposal

# A name that so many records repeat on average is of somebody with several.
_RECORDS_OF_A_NAME = 1.5
# Rank of a name among what may say whose record it is.
_NAME = 3


def propose_subject(proposals: Sequence[Proposal]) -> Proposal | None:
    """Return the identifier that says whose record it is, where people have several.

    A key of people comes first, another key, what looks like the number or address of somebody,
    and a name at last.
    """
    identifiers = [one for one in proposals if one.role == "identifier"]
    found = {one.name: rank for one in identifiers if (rank := _rank(one.facts)) is not None}
    if any(one.facts.looks and one.facts.is_unique for one in identifiers):
        # Each record has an address or a number of somebody of its own: others have the same name.
        found = {name: rank for name, rank in found.items() if rank < _NAME}
    return min(
        (one for one in identifiers if one.name in found),
        key=lambda one: found[one.name],
        default=None,
    )


def may_share(one: Proposal) -> bool:
    """Tell whether people may share values of an identifier, judged by its name."""
    return one.role == "identifier" and one.facts.repeats and said_by(one.name, "shared")


def _rank(facts: ColumnFacts) -> int | None:
    if not facts.repeats or facts.known < facts.records:
        return None
    if is_key(facts.name):
        return 0 if is_key_of_person(facts.name) else 1
    if facts.known < _RECORDS_OF_A_NAME * facts.distinct:
        return None
    if facts.looks and facts.looks not in {"phone numbers", "addresses of machines (IP)"}:
        return 2
    return _NAME if said_by(facts.name, "full_name") else None
