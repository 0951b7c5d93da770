"""Report of all facts about a column, without any of its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbt_anonymize.extensions.drafting.facts import ColumnFacts, singled_out
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.warehouse import Warehouse

# Most pairs of columns, which are counted one by one.
_MOST_PAIRS = 40
_KIND_TEXTS = {
    "identifier": "an identifier",
    "key": "a key",
    "row_number": "a row number",
    "sampling_weight": "a weight of a sample",
    "free_text": "free text",
    "quasi_identifier": "something that others could know",
    "sensitive": "something sensitive",
    "target": "something that is predicted",
}


def report_lines(
    warehouse: Warehouse, relation: Any, proposals: Sequence[Proposal], proposal: Proposal
) -> Iterator[str]:
    """Yield lines of facts about a column, from its role to counts of pairs."""
    facts = proposal.facts
    yield f"{proposal.name}: {proposal.role}{'' if proposal.is_decided else ' (in doubt)'}"
    yield f"  reason: {proposal.reason}"
    yield from (f"  {line}" for line in _count_lines(facts))
    kinds = [text for kind, text in _KIND_TEXTS.items() if name_indicates(proposal.name, kind)]
    yield f"  its name says: {', '.join(kinds) or 'nothing'}"
    yield f"  most values look like: {facts.looks or 'nothing that names a person'}"
    if facts.follows:
        yield f"  follows from: {', '.join(facts.follows)}"
    if facts.known_with:
        yield f"  known only with what is predicted: {facts.known_with}"
    if facts.tells is not None:
        yield f"  {facts.explains} of the target by itself"
    yield f"  singled out by it alone: {pluralized(facts.singled, 'record')}"
    others = [
        other.name
        for other in proposals
        if other is not proposal
        and other.role in {"quasi_identifier", "sensitive", "insensitive"}
        and other.facts.kind != "other"
    ]
    if facts.kind != "other" and proposal.role != KEY and not facts.is_unique:
        for other in others[:_MOST_PAIRS]:
            count = singled_out(warehouse, relation, [proposal.name, other])
            yield f"  singled out together with {other}: {pluralized(count, 'record')}"


def _count_lines(facts: ColumnFacts) -> Iterator[str]:
    missing = pluralized(facts.records - facts.known, "NULL")
    yield f"type: {facts.type}, {pluralized(facts.records, 'record')}, {missing}"
    yield f"different values: {facts.distinct:,}"
    if facts.longest:
        yield f"characters: {facts.shortest} to {facts.longest}"
    if facts.empty:
        yield f"empty texts: {pluralized(facts.empty, 'record')}"
    if facts.phrases:
        yield f"values of several words: {facts.phrases:,}"


def hierarchy_lines(plan: Plan) -> Iterator[str]:
    """Yield the number of labels of each level, and the command; labels may be values."""
    for level, labels in enumerate(plan.hierarchy.labels, start=1):
        yield f"  level {level}: {pluralized(len(set(labels)), 'label')}"
    if plan.has_unknown:
        yield '  an empty text is * like NULL, as no seed holds one: unknown: "*" in the spec'
    yield f"  {plan.command}"
