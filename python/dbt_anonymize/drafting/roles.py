"""A proposed role for each column, with its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.names import said_by
from dbt_anonymize.pluralize import counted

# From so many different texts per record on, a text finds a record by itself.
_NEAR_UNIQUE = 0.9
_FEW = 10
# Texts of more different values are no hierarchy that anybody reads; they are left to a person.
_MOST_CATEGORIES = 100
KEY = "record_key"
_OF_SNAPSHOTS = {"dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted"}
_HAS_ZONE = re.compile("with (local )?time zone|timestamptz|_l?tz")


@dataclass(frozen=True)
class Proposal:
    """A role of a column; ``KEY`` is the record key, which has none.

    ``is_decided``: names or values say so; else a person should look at it.
    """

    facts: ColumnFacts
    role: str
    reason: str
    is_decided: bool = True
    is_target: bool = False
    mask: str | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name


def propose(facts: Sequence[ColumnFacts]) -> list[Proposal]:
    """Return a proposal for each column, in their order."""
    key = _key(facts)
    found = [
        Proposal(one, KEY, "unique and never NULL") if one is key else _role(one) for one in facts
    ]
    target = _target(found)
    return [one if one is not target else _as_target(one) for one in found]


def _as_target(found: Proposal) -> Proposal:
    classes = counted(found.facts.distinct, "class", "classes")
    return replace(
        found,
        role="sensitive",
        is_target=True,
        is_decided=said_by(found.name, "target"),
        reason=f"target, which models predict: {classes}",
    )


def _key(facts: Sequence[ColumnFacts]) -> ColumnFacts | None:
    """Return the column that tells records apart: one called so, else the first number or code."""
    unique = [one for one in facts if one.is_unique and one.kind in {"number", "text"}]
    named = [one for one in unique if said_by(one.name, "key")]
    return next(iter([*named, *unique]), None)


def _role(facts: ColumnFacts) -> Proposal:
    if facts.name.lower() in _OF_SNAPSHOTS:
        return Proposal(facts, "dropped", "dbt's own column of a snapshot")
    if facts.records > 1 and facts.distinct <= 1 and facts.kind != "other":
        what = "always NULL" if facts.known == 0 else "constant: it tells nothing"
        return Proposal(facts, "dropped", what)
    if facts.kind == "other":
        kind = facts.type.lower().partition("(")[0]
        return Proposal(facts, "dropped", f"cast {kind} in a model before", False)
    for rule in (_identifier, _text, _by_name):
        found = rule(facts)
        if found is not None:
            return found
    return _by_content(facts)


def _identifier(facts: ColumnFacts) -> Proposal | None:
    if facts.looks:
        return Proposal(facts, "identifier", f"values look like {facts.looks}")
    if said_by(facts.name, "identifier") and facts.kind in {"text", "number"}:
        is_sure = facts.distinct > _FEW or facts.distinction > 0.5
        return Proposal(facts, "identifier", "its name says so", is_sure)
    if facts.is_unique and facts.kind in {"number", "text"}:
        return Proposal(facts, "identifier", "every record has another value")
    return None


def _text(facts: ColumnFacts) -> Proposal | None:
    if facts.kind != "text":
        return None
    if facts.is_free_text:
        many = counted(facts.phrases, "different value")
        return Proposal(facts, "dropped", f"free text, which may name anybody: {many} of words")
    if said_by(facts.name, "free_text") and facts.distinct > _FEW:
        return Proposal(facts, "dropped", "its name says free text, which may name anybody")
    is_known_code = facts.is_code and said_by(facts.name, "quasi_identifier")
    if facts.distinction >= _NEAR_UNIQUE and facts.distinct > _FEW and not is_known_code:
        return Proposal(facts, "identifier", f"near-unique text: {_alone(facts)}")
    return None


def _by_name(facts: ColumnFacts) -> Proposal | None:
    if said_by(facts.name, "sensitive"):
        return Proposal(facts, "sensitive", f"its name says so; {_alone(facts)}")
    if said_by(facts.name, "quasi_identifier"):
        return Proposal(facts, "quasi_identifier", f"others could know it; {_alone(facts)}")
    return None


def _by_content(facts: ColumnFacts) -> Proposal:
    """Propose what is safe and still useful; a person should decide."""
    if facts.kind == "timestamp" and _HAS_ZONE.search(facts.type.lower()):
        reason = f"no mask takes a time zone; cast it in a model before; {_alone(facts)}"
        return Proposal(facts, "dropped", reason, False)
    if facts.kind == "timestamp":
        reason = f"released to the quarter; {_alone(facts)}"
        return Proposal(facts, "insensitive", reason, False, mask="{truncate: quarter}")
    if facts.kind == "date":
        return Proposal(facts, "quasi_identifier", f"a date; {_alone(facts)}", False)
    if facts.kind == "number" and facts.distinct > _MOST_CATEGORIES:
        return Proposal(facts, "quasi_identifier", f"precise number; {_alone(facts)}", False)
    if facts.kind == "text" and facts.distinct > _MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"many texts; {_alone(facts)}", False)
    return Proposal(facts, "insensitive", f"tells little of a person; {_alone(facts)}", False)


def _target(found: Sequence[Proposal]) -> Proposal | None:
    """Return what models could predict: a column called so, else the last one of few classes."""
    roles = {"sensitive", "insensitive"}
    open_ = [one for one in found if one.role in roles and one.mask is None]
    usable = [one for one in open_ if one.facts.known == one.facts.records]
    classes = [one for one in usable if 2 <= one.facts.distinct <= _FEW]
    named = [one for one in classes if said_by(one.name, "target")]
    found_last = [*classes, *named][-1:]
    return found_last[0] if found_last else None


def _alone(facts: ColumnFacts) -> str:
    values = counted(facts.distinct, "value")
    return f"{values}, {counted(facts.singled, 'record')} singled out by it alone"
