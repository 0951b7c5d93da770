"""A proposed role for each column, with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.names import is_key, is_key_of_person, said_by
from dbt_anonymize.errors import SpecError
from dbt_anonymize.evaluation.data.targets import MAX_CLASSES
from dbt_anonymize.pluralize import counted

# From so many different texts per record on, a text finds a record by itself.
_NEAR_UNIQUE = 0.9
_FEW = 10
# Codes and whole numbers from so many characters on are of somebody rather than of something.
_LONG_CODE, _LONG_NUMBER, _PRECISE_NUMBER = 6, 8, 5
# A name that so many records repeat on average is of somebody with several.
_RECORDS_OF_A_NAME = 1.5
# Rank of a name among what may say whose record it is.
_NAME = 3
# Texts of more different values are no hierarchy that anybody reads; they are left to a person.
_MOST_CATEGORIES = 100
KEY = "record_key"
# A number of more different values is predicted as a number.
_MOST_CLASSES = 20
_OF_SNAPSHOTS = {"dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted"}


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


def propose(facts: Sequence[ColumnFacts], predict: str | None = None) -> list[Proposal]:
    """Return a proposal for each column, in their order.

    ``predict`` names the target; a column that models cannot predict is a `SpecError`.
    """
    wanted = None if predict is None else _predictable(facts, predict)
    key = _key([one for one in facts if one is not wanted])
    found = [
        Proposal(one, KEY, "unique and never NULL") if one is key else _role(one) for one in facts
    ]
    target = _target(found)
    if wanted is not None:
        target = next(one for one in found if one.facts is wanted)
    return _without_twins([one if one is not target else _as_target(one, predict) for one in found])


def _without_twins(found: Sequence[Proposal]) -> list[Proposal]:
    """Return proposals that drop what says the same as another column, value for value.

    Released as it is, it would undo what is generalized there; beside the target it would leave
    nothing to learn.
    """
    stays: dict[str, str] = {}
    for one in found:
        first = one.facts.same_as or one.name
        if one.is_target or first not in stays:
            stays[first] = one.name
    return [
        one
        if other == one.name or one.role in {KEY, "identifier", "dropped"}
        else replace(
            one,
            role="dropped",
            mask=None,
            is_decided=True,
            reason=f"says the same as {other}, value for value",
        )
        for one in found
        for other in [stays[one.facts.same_as or one.name]]
    ]


def _as_target(found: Proposal, predict: str | None) -> Proposal:
    shown = counted(found.facts.distinct, "class", "classes")
    if is_amount(found.facts):
        shown = "a number"
    return replace(
        found,
        role="sensitive",
        mask=None,
        is_target=True,
        is_decided=predict is not None or said_by(found.name, "target"),
        reason=f"target, which models predict: {shown}",
    )


def is_amount(facts: ColumnFacts) -> bool:
    """Tell whether models predict a column as a number, not as a class."""
    return facts.kind == "number" and facts.distinct > _MOST_CLASSES


def _predictable(facts: Sequence[ColumnFacts], predict: str) -> ColumnFacts:
    """Return the column that was asked for; what models cannot predict is refused."""
    named = [one for one in facts if one.name.lower() == predict.lower()]
    if not named:
        raise SpecError(
            f"--predict must name a column; there is no {predict}. Columns are "
            f"{', '.join(one.name for one in facts)}."
        )
    (found,) = named
    if why := _unpredictable(found):
        raise SpecError(
            f"--predict {predict} must be a column of classes or numbers that are known; it has "
            f"{why}. Name another column."
        )
    return found


def _unpredictable(facts: ColumnFacts) -> str:
    """Return what keeps models from predicting a column; nothing where they can."""
    missing = facts.records - facts.known
    is_apart = facts.is_unique or (facts.kind != "number" and facts.distinct > MAX_CLASSES)
    reasons = {
        "NULL everywhere": not facts.known,
        "one value only": facts.distinct <= 1,
        f"{counted(missing, 'NULL')}: leave these records out in a model": missing > 0,
        f"values that look like {facts.looks}, which name people": bool(facts.looks),
        f"{facts.distinct} values in {counted(facts.records, 'record')}, each nearly its own": (
            is_apart
        ),
        f"the type {facts.type}: cast it in a model before": (
            facts.kind not in {"number", "text", "boolean"}
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


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
        return Proposal(facts, "dropped", f"cast {facts.type} in a model before", False)
    for rule in (_identifier, _text, _by_name):
        found = rule(facts)
        if found is not None:
            return found
    return _by_content(facts)


def _identifier(facts: ColumnFacts) -> Proposal | None:
    if facts.looks:
        return Proposal(facts, "identifier", f"values look like {facts.looks}")
    if facts.kind not in {"number", "text"}:
        return None
    # Few values name nobody, whatever the column is called: `insurance`, yes or no.
    is_telling = facts.distinct > _FEW or facts.distinction > 0.5
    if said_by(facts.name, "identifier") and is_telling:
        return Proposal(facts, "identifier", "its name says so")
    if facts.is_unique:
        return Proposal(facts, "identifier", "every record has another value")
    if said_by(facts.name, "quasi_identifier") or said_by(facts.name, "sensitive"):
        return None
    return _repeating_key(facts, is_telling=is_telling)


def _repeating_key(facts: ColumnFacts, *, is_telling: bool) -> Proposal | None:
    many = f"{counted(facts.distinct, 'value')} in {counted(facts.known, 'record')}"
    is_of_person = is_key_of_person(facts.name) and facts.distinct > 2
    if is_of_person or (is_key(facts.name) and is_telling):
        return Proposal(facts, "identifier", f"a key that several records have: {many}")
    length = _LONG_NUMBER if facts.kind == "number" else _LONG_CODE
    is_code = facts.kind == "number" or facts.is_code
    if is_code and is_telling and facts.shortest >= length:
        what = f"{length} and more characters, as keys have"
        return Proposal(facts, "identifier", f"{what}: {many}", False)
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
    if facts.has_zone:
        reason = f"no mask takes a time zone; cast it in a model before; {_alone(facts)}"
        return Proposal(facts, "dropped", reason, False)
    if facts.kind == "timestamp":
        reason = f"released to the quarter; {_alone(facts)}"
        return Proposal(facts, "insensitive", reason, False, mask="{truncate: quarter}")
    if facts.kind == "date":
        return Proposal(facts, "quasi_identifier", f"a date; {_alone(facts)}", False)
    is_long = facts.shortest >= _PRECISE_NUMBER and facts.distinct > _FEW
    if facts.kind == "number" and (is_long or facts.distinct > _MOST_CATEGORIES):
        return Proposal(facts, "quasi_identifier", f"precise number; {_alone(facts)}", False)
    if facts.kind == "text" and facts.distinct > _MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"many texts; {_alone(facts)}", False)
    what = "tells little of a person"
    if said_by(facts.name, "identifier"):
        what = "too few values to name anybody, whatever the column is called"
    return Proposal(facts, "insensitive", f"{what}; {_alone(facts)}", False)


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
