"""The subject of records, if people have several."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import is_key, is_key_of_person, name_indicates
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal

# Average records per name from which on names are those of people with several records.
_RECORDS_OF_A_NAME = 1.5
# Values per record from which on a column tells people apart; a few share an address.
_NEARLY_ALL = 0.9
# Most digits and values of small numbers that name nobody if each has that many records.
_SHORT_NUMBER, _FEW_PEOPLE, _MANY_RECORDS = 3, 100, 100
# Rank of names among candidates for the subject.
_NAME = 3


def propose_subject(proposals: Sequence[Proposal]) -> Proposal | None:
    """Return the identifier that is the subject, if people have several records.

    A key of persons comes first, then another key, a number or address of a person, and last a
    name.
    """
    identifiers = [proposal for proposal in proposals if proposal.role == "identifier"]
    ranks = {
        proposal.name: rank
        for proposal in identifiers
        if (rank := _rank(proposal.facts)) is not None
    }
    if any(_tells_people_apart(proposal) for proposal in proposals):
        # An address or number of nearly each record: equal names are different people.
        ranks = {name: rank for name, rank in ranks.items() if rank < _NAME}
    return min(
        (proposal for proposal in identifiers if proposal.name in ranks),
        key=lambda proposal: ranks[proposal.name],
        default=None,
    )


def _tells_people_apart(proposal: Proposal) -> bool:
    """Tell whether hardly two records share an address, or a number of a person."""
    facts = proposal.facts
    is_own = proposal.role == "identifier" and facts.looks
    is_number = proposal.role in {"identifier", KEY} and is_key_of_person(facts.name)
    return facts.distinction >= _NEARLY_ALL and bool(is_own or is_number)


def may_share(proposal: Proposal, proposals: Sequence[Proposal]) -> bool:
    """Tell whether people may share values of an identifier.

    Its name says so, or it is of names, and another column tells people apart.
    """
    if proposal.role != "identifier" or not proposal.facts.repeats:
        return False
    return name_indicates(proposal.name, "shared") or (
        _is_of_names(proposal.facts) and any(map(_tells_people_apart, proposals))
    )


def are_too_few(facts: ColumnFacts) -> bool:
    """Tell whether values are few small numbers for many records, so that they name nobody.

    A key of persons, or an `id`, may be of few people of whom there are many records.
    """
    is_small = facts.kind == "number" and facts.longest <= _SHORT_NUMBER
    is_few = facts.distinct <= _FEW_PEOPLE and facts.known >= _MANY_RECORDS * facts.distinct
    is_named = facts.name.lower() == "id" or is_key_of_person(facts.name)
    return is_small and is_few and not is_named


def _is_of_names(facts: ColumnFacts) -> bool:
    return facts.looks == "names of people" or (
        not facts.looks and name_indicates(facts.name, "full_name")
    )


def _rank(facts: ColumnFacts) -> int | None:
    if not facts.repeats or facts.known < facts.records or are_too_few(facts):
        return None
    if is_key(facts.name):
        return 0 if is_key_of_person(facts.name) else 1
    if facts.known < _RECORDS_OF_A_NAME * facts.distinct:
        return None
    if facts.looks not in {None, "names of people", "phone numbers", "addresses of machines (IP)"}:
        return 2
    return _NAME if _is_of_names(facts) else None
