"""A proposed role for each column, with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import is_key, is_key_of_person, said_by
from dbt_anonymize.extensions.drafting.places import limited
from dbt_anonymize.extensions.drafting.proposal import (
    KEY,
    MOST_CATEGORIES,
    PREDICTED,
    Proposal,
    alone,
    is_amount,
)
from dbt_anonymize.extensions.drafting.redundant import without_redundant
from dbt_anonymize.extensions.drafting.refusals import (
    check_kept,
    find_dropped,
    find_named,
    find_predictable,
)
from dbt_anonymize.extensions.drafting.survival import find_time
from dbt_anonymize.pluralize import pluralized

# From so many different texts per record on, a text finds a record by itself.
_NEAR_UNIQUE = 0.9
_FEW = 10
# Codes and whole numbers from so many characters on are of somebody rather than of something.
_LONG_CODE, _LONG_NUMBER, _PRECISE_NUMBER = 6, 8, 5
# Texts of at most so many characters (yes, no, a code) name nobody.
_YES_OR_NO = 3
_KNOWN = "others could know it"
_OF_SNAPSHOTS = {"dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted"}


def propose(
    facts: Sequence[ColumnFacts],
    predict: str | None = None,
    time: str | None = None,
    *,
    is_guessed: bool = True,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> list[Proposal]:
    """Return a proposal for each column, in their order.

    ``predict`` names the target, ``time`` the time until it happens; a column that models cannot
    predict is a `SpecError`. Without a name the target ``is_guessed``, or there is none. Columns to
    ``drop`` are neither; those to ``keep`` stay among many, or beside what they follow from.
    """
    wanted = None if predict is None else find_predictable(facts, predict)
    timed = find_time(facts, wanted, time) if wanted and time else None
    dropped = find_dropped(facts, drop, used=[wanted, timed])
    key = _key([one for one in facts if one not in (wanted, timed, *dropped)])
    given = {one.name: Proposal(one, "dropped", "left out by --drop") for one in dropped}
    if wanted is not None and wanted.is_unique:
        given[wanted.name] = Proposal(wanted, "sensitive", "a number of which each has its own")
    if key is not None:
        given[key.name] = Proposal(key, KEY, "unique and never NULL")
    found = [given.get(one.name) or _role(one) for one in facts]
    target = _target(found) if is_guessed else None
    if wanted is not None:
        target = next(one for one in found if one.facts is wanted)
        if target.role == "identifier" and target.is_decided:
            raise SpecError(
                f"--predict {predict} must not be an identifier, which is never released: "
                f"{target.reason}. Name another column."
            )
    targeted = [
        one if one is not target else _as_target(one, predict)
        for one in found
        if one.facts is not timed
    ]
    kept = find_named(facts, keep, "--keep", "that stays readable")
    found = limited(without_redundant(targeted, kept), kept)
    check_kept(found, kept)
    if timed is not None and target is not None:
        what = f"time until {target.name} or the last sight, which models predict; {alone(timed)}"
        found.insert(facts.index(timed), Proposal(timed, "sensitive", what, is_time=True))
    return found


def _as_target(found: Proposal, predict: str | None) -> Proposal:
    classes = pluralized(found.facts.distinct, "class", "classes")
    shown = "a number" if is_amount(found.facts) else classes
    if found.facts.distinct > MOST_CATEGORIES:
        shown += (
            f"; {alone(found.facts)}, and released as it is: whoever knows it of somebody finds "
            "the record, so round it or make classes of it in a model before"
        )
    return replace(
        found,
        role="sensitive",
        mask=None,
        is_target=True,
        is_decided=predict is not None or said_by(found.name, "target"),
        reason=f"target, which models predict: {shown}",
    )


def guess_of(target: Proposal) -> str:
    """Return why a column that nobody named is taken for the target."""
    if said_by(target.name, "target"):
        return "its name says so"
    return "nothing says so, but it has few classes and is the last of these"


def _key(facts: Sequence[ColumnFacts]) -> ColumnFacts | None:
    """Return the column that tells records apart: one called so, else the first number or code."""
    unique = [one for one in facts if one.is_unique and one.kind in {"number", "text"}]
    named = [one for one in unique if said_by(one.name, "key")]
    whole = [one for one in unique if not one.is_fractional]
    return next(iter([*named, *whole, *unique]), None)


def _role(facts: ColumnFacts) -> Proposal:
    if facts.name.lower() in _OF_SNAPSHOTS:
        return Proposal(facts, "dropped", "dbt's own column of a snapshot")
    if facts.records > 1 and facts.distinct <= 1 and facts.kind != "other":
        what = "always NULL" if facts.known == 0 else "constant: it tells nothing"
        return Proposal(facts, "dropped", what)
    if facts.kind == "other":
        return Proposal(facts, "dropped", f"cast {facts.type} in a model before", False)
    for rule in (_needless, _identifier, _text, _by_name):
        found = rule(facts)
        if found is not None:
            return found
    return _by_content(facts)


def _needless(facts: ColumnFacts) -> Proposal | None:
    """Drop row numbers and the weights of a sample, which tell records apart and nothing else."""
    if facts.kind != "number" or facts.distinct <= _FEW:
        return None
    if said_by(facts.name, "row_number") and facts.distinction >= _NEAR_UNIQUE:
        return Proposal(facts, "dropped", "a row number, which nobody needs")
    if said_by(facts.name, "sampling_weight") and facts.distinct > MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"a weight of a sample, by its name; {alone(facts)}")
    return None


def _identifier(facts: ColumnFacts) -> Proposal | None:
    if facts.looks:
        return Proposal(facts, "identifier", f"values look like {facts.looks}")
    return _by_name_or_key(facts) if facts.kind in {"number", "text"} else None


def _by_name_or_key(facts: ColumnFacts) -> Proposal | None:
    # Few values name nobody, whatever the column is called: `insurance`, yes or no.
    is_telling = facts.distinct > _FEW or facts.distinction > 0.5
    if said_by(facts.name, "identifier") and is_telling:
        return Proposal(facts, "identifier", "its name says so")
    if facts.kind == "text" and said_by(facts.name, "names_person") and facts.longest > _YES_OR_NO:
        what = f"its name says so, and {pluralized(facts.distinct, 'value')} may name people"
        return Proposal(facts, "identifier", what, False)
    if facts.is_unique and not facts.is_fractional and not facts.is_free_text:
        return Proposal(facts, "identifier", "every record has another value")
    is_household = is_telling and is_key(facts.name) and said_by(facts.name, "household")
    known = said_by(facts.name, "quasi_identifier") or said_by(facts.name, "sensitive")
    if known and not is_household:
        return None
    return _repeating_key(facts, is_telling=is_telling)


def _repeating_key(facts: ColumnFacts, *, is_telling: bool) -> Proposal | None:
    many = f"{pluralized(facts.distinct, 'value')} in {pluralized(facts.known, 'record')}"
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
        many = pluralized(facts.phrases, "different value")
        return Proposal(facts, "dropped", f"free text, which may name anybody: {many} of words")
    if said_by(facts.name, "free_text") and facts.distinct > _FEW:
        return Proposal(facts, "dropped", "its name says free text, which may name anybody")
    is_known_code = facts.is_code and said_by(facts.name, "quasi_identifier")
    if facts.distinction >= _NEAR_UNIQUE and facts.distinct > _FEW and not is_known_code:
        return Proposal(facts, "identifier", f"near-unique text: {alone(facts)}")
    return None


def _by_name(facts: ColumnFacts) -> Proposal | None:
    if said_by(facts.name, "sensitive"):
        return _sensitive(facts)
    if said_by(facts.name, "quasi_identifier"):
        return Proposal(facts, "quasi_identifier", f"{_KNOWN}; {alone(facts)}")
    return None


def _sensitive(facts: ColumnFacts) -> Proposal:
    """Propose classes where values are so many that they find a person as a quasi-identifier."""
    is_telling = facts.distinct > MOST_CATEGORIES or (facts.singled and facts.distinct > _FEW)
    if facts.kind in {"number", "date"} and is_telling:
        knows = "an employer, bank or insurer knows it and finds the person"
        mask = "; or make it insensitive with a mask such as {round: 1000}"
        what = f"sensitive, but {alone(facts)}: {knows}, so in classes"
        other = mask if facts.kind == "number" and facts.distinct > MOST_CATEGORIES else ""
        return Proposal(facts, "quasi_identifier", what + other)
    return Proposal(facts, "sensitive", f"its name says so; {alone(facts)}")


def _by_content(facts: ColumnFacts) -> Proposal:
    """Propose what is safe and still useful; a person should decide where people may be named.

    In doubt others could know it: a column that is generalized never singles anybody out.
    """
    if facts.has_zone:
        reason = f"no mask takes a time zone; cast it in a model before; {alone(facts)}"
        return Proposal(facts, "dropped", reason, False)
    if facts.kind == "timestamp":
        reason = f"released to the quarter; {alone(facts)}"
        return Proposal(facts, "insensitive", reason, False, mask="{truncate: quarter}")
    if facts.kind == "date":
        return Proposal(
            facts, "quasi_identifier", f"a date, which others could know; {alone(facts)}"
        )
    if facts.kind == "text" and facts.distinct > MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"many texts; {alone(facts)}", False)
    what = _KNOWN
    if said_by(facts.name, "identifier"):
        what = "too few values to name anybody, whatever the column is called"
    elif facts.kind == "number" and facts.distinct > MOST_CATEGORIES:
        what = "precise number"
    return Proposal(facts, "quasi_identifier", f"{what}; {alone(facts)}")


def take_all(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return decided proposals: what may name people, which nobody was asked, is dropped."""
    return [
        one
        if one.is_decided or one.role != "identifier"
        else replace(one, role="dropped", is_decided=True, reason=f"{one.reason}; dropped in doubt")
        for one in proposals
    ]


def _target(found: Sequence[Proposal]) -> Proposal | None:
    """Return what models could predict: a column called so, else the last one of few classes.

    What others could know of anybody by its name (sex, region) is rather learned from.
    """
    open_ = [one for one in found if one.role in PREDICTED and one.mask is None]
    usable = [one for one in open_ if one.facts.known == one.facts.records]
    classes = [one for one in usable if 2 <= one.facts.distinct <= _FEW]
    named = [one for one in classes if said_by(one.name, "target")]
    sensitive = [one for one in classes if one.role == "sensitive"]
    unknown = [one for one in classes if not said_by(one.name, "quasi_identifier")]
    return next((some[-1] for some in (named, sensitive, unknown) if some), None)
