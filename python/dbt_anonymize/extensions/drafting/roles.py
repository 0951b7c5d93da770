"""A proposed role for each column, with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.conditions import with_conditions
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.guessed_target import guess_target
from dbt_anonymize.extensions.drafting.names import (
    is_key,
    is_key_of_person,
    is_measure,
    name_indicates,
)
from dbt_anonymize.extensions.drafting.places import keep_best_known
from dbt_anonymize.extensions.drafting.proposal import (
    KEY,
    MOST_CATEGORIES,
    Proposal,
    is_amount,
    singling_text,
)
from dbt_anonymize.extensions.drafting.redundant import without_redundant
from dbt_anonymize.extensions.drafting.refusals import (
    check_kept,
    find_dropped,
    find_named,
    find_predictable,
)
from dbt_anonymize.extensions.drafting.subjects import are_too_few, propose_subject
from dbt_anonymize.extensions.drafting.survival import find_time
from dbt_anonymize.pluralize import pluralized

# Distinct texts per record from which on a text finds a record by itself.
_NEAR_UNIQUE = 0.9
_FEW = 10
# Fewest characters of codes and whole numbers that identify persons rather than things.
_LONG_CODE, _LONG_NUMBER, _PRECISE_NUMBER = 6, 8, 5
# Most characters of texts (yes, no, a code) that name nobody.
_YES_OR_NO = 3
_KNOWN = "others could know it"
# The remedy for amounts, where columns may have masks.
ROUNDED = "or make it insensitive with a mask such as {round: 1000}"
_OF_SNAPSHOTS = {"dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted"}


def propose(
    facts: Sequence[ColumnFacts],
    predict: str | None = None,
    time: str | None = None,
    *,
    is_guessed: bool = True,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    sensitive: Sequence[str] = (),
) -> list[Proposal]:
    """Return a proposal for each column, in their order.

    ``predict`` names the target, ``time`` the time until it happens; a column that models cannot
    predict is a `SpecError`. Without a name the target ``is_guessed``, or there is none. Columns to
    ``keep`` stay even if they are too many, or follow from another column, and so do those that are
    declared to be ``sensitive``.
    """
    target_column = None if predict is None else find_predictable(facts, predict)
    time_column = find_time(facts, target_column, time) if target_column and time else None
    dropped = find_dropped(facts, drop, used=[target_column, time_column])
    others = [column for column in facts if column not in (target_column, time_column)]
    key = find_key([column for column in others if column not in dropped])
    if key is None and (left_out := find_key(others)):
        raise SpecError(
            f"--drop must name a column to leave out; {left_out.name} is the record key, and no "
            "other column is unique. It is never released: name another column."
        )
    exact = find_sensitive(facts, sensitive, not_of=[key, *dropped])
    # Of each column by itself, whatever is asked for.
    plain = [
        Proposal(one, KEY, "unique and never NULL") if one is key else propose_role(one)
        for one in facts
    ]
    fixed = _fixed_roles(plain, dropped, exact, target_column)
    proposals = with_conditions([fixed.get(one.name, one) for one in plain])
    target = guess_target(proposals) if is_guessed else None
    if target_column is not None:
        target = next(column for column in proposals if column.facts is target_column)
        if target.role == "identifier" and target.is_decided:
            raise SpecError(
                f"--predict {predict} must not be an identifier, which is never released: "
                f"{target.reason}. Name another column."
            )
    with_target = [
        column if column is not target else _as_target(column, predict)
        for column in proposals
        if column.facts is not time_column
    ]
    kept_columns = find_named(facts, keep, "--keep", "that stays readable")
    distinct = without_redundant(with_target, kept_columns, exact)
    proposals = keep_best_known(distinct, kept_columns)
    check_kept(proposals, kept_columns)
    if time_column is not None and target is not None:
        reason = (
            f"time until {target.name} or the last sight, which models predict; "
            f"{singling_text(time_column)}"
        )
        proposals.insert(
            facts.index(time_column), Proposal(time_column, "sensitive", reason, is_time=True)
        )
    return proposals


def _fixed_roles(
    plain: Sequence[Proposal],
    dropped: Sequence[ColumnFacts],
    exact: Sequence[ColumnFacts],
    target: ColumnFacts | None,
) -> dict[str, Proposal]:
    """Return the proposals that options decide, by column; ``plain`` are those without any."""
    fixed = {column.name: Proposal(column, "dropped", "left out by --drop") for column in dropped}
    fixed |= {
        column.name: Proposal(column, "sensitive", f"by --sensitive; {singling_text(column)}")
        for column in exact
    }
    if (whose := propose_subject(plain)) and whose.facts in dropped:
        # Without it k would count records, of which one person may have many.
        fixed[whose.name] = replace(whose, reason=f"{whose.reason}; it says whose records they are")
    if target is not None and target.is_unique:
        fixed[target.name] = Proposal(target, "sensitive", "a number of which each has its own")
    return fixed


def find_sensitive(
    facts: Sequence[ColumnFacts], names: Sequence[str], *, not_of: Sequence[ColumnFacts | None]
) -> list[ColumnFacts]:
    """Return the columns of ``--sensitive``; one that cannot be released is a `SpecError`.

    ``not_of`` are the record key and the columns of ``--drop``.
    """
    found = find_named(facts, names, "--sensitive", "to release as it is")
    for column in found:
        proposal = propose_role(column)
        cannot_be = proposal.role in {"identifier", "dropped"}
        if cannot_be or column in not_of:
            why = proposal.reason if cannot_be else "never released"
            raise SpecError(
                f"--sensitive must name a column to release as it is; {column.name} is not: {why}. "
                "Name another column."
            )
    return found


def _as_target(proposal: Proposal, predict: str | None) -> Proposal:
    facts = proposal.facts
    text, remedy = "a number", "round it or make classes of it"
    if not is_amount(facts):
        text, remedy = pluralized(facts.distinct, "class", "classes"), "merge its rare values"
    if facts.singled:
        text += (
            f"; {singling_text(facts)}, and released as it is: whoever knows it of somebody finds "
            f"the record, so {remedy} in a model before"
        )
    return replace(
        proposal,
        role="sensitive",
        mask=None,
        is_target=True,
        is_decided=predict is not None or name_indicates(proposal.name, "target"),
        reason=f"target, which models predict: {text}",
    )


def find_key(facts: Sequence[ColumnFacts]) -> ColumnFacts | None:
    """Return the record key: a unique column with such a name, else the first number or code.

    A measure comes last.
    """
    unique = [column for column in facts if column.is_unique and column.kind in {"number", "text"}]
    by_name = [column for column in unique if name_indicates(column.name, "key")]
    whole = [one for one in unique if not (one.is_fractional or is_measure(one.name))]
    return next(iter([*by_name, *whole, *unique]), None)


def propose_role(facts: ColumnFacts) -> Proposal:
    """Return a proposal for a column by itself, which is no key."""
    if facts.name.lower() in _OF_SNAPSHOTS:
        return Proposal(facts, "dropped", "dbt's own column of a snapshot")
    if facts.records > 1 and facts.distinct <= 1 and facts.kind != "other":
        reason = "always NULL" if facts.known == 0 else "constant: it tells nothing"
        return Proposal(facts, "dropped", reason)
    if facts.kind == "other":
        return Proposal(facts, "dropped", f"cast {facts.type} in a model before", False)
    for rule in (_propose_needless, _propose_identifier, _propose_text, _propose_by_name):
        proposal = rule(facts)
        if proposal is not None:
            return proposal
    return _propose_by_content(facts)


def _propose_needless(facts: ColumnFacts) -> Proposal | None:
    """Drop row numbers, weights of a sample and times of loading, which only tell records apart."""
    if facts.kind in {"date", "timestamp"} and name_indicates(facts.name, "loading"):
        reason = f"a time of loading, by its name, which tells who is new; {singling_text(facts)}"
        return Proposal(facts, "dropped", reason)
    if facts.kind != "number" or facts.distinct <= _FEW:
        return None
    if name_indicates(facts.name, "row_number") and facts.distinction >= _NEAR_UNIQUE:
        return Proposal(facts, "dropped", "a row number, which nobody needs")
    if name_indicates(facts.name, "sampling_weight") and facts.distinct > MOST_CATEGORIES:
        return Proposal(
            facts, "dropped", f"a weight of a sample, by its name; {singling_text(facts)}"
        )
    return None


def _propose_identifier(facts: ColumnFacts) -> Proposal | None:
    if facts.looks:
        return Proposal(facts, "identifier", f"values look like {facts.looks}")
    return _propose_identifier_by_name(facts) if facts.kind in {"number", "text"} else None


def _propose_identifier_by_name(facts: ColumnFacts) -> Proposal | None:
    # Few values name nobody, whatever the column is called: `insurance`, yes or no.
    is_telling = facts.distinct > _FEW or facts.distinction > 0.5
    if name_indicates(facts.name, "identifier") and is_telling:
        return Proposal(facts, "identifier", "its name says so")
    if (
        facts.kind == "text"
        and name_indicates(facts.name, "names_person")
        and facts.longest > _YES_OR_NO
    ):
        reason = f"its name says so, and {pluralized(facts.distinct, 'value')} may name people"
        return Proposal(facts, "identifier", reason, False)
    is_counted = facts.kind == "number" and is_measure(facts.name)
    if facts.is_unique and not (facts.is_fractional or facts.is_free_text or is_counted):
        return Proposal(facts, "identifier", "every record has another value")
    is_household = is_telling and is_key(facts.name) and name_indicates(facts.name, "household")
    known = name_indicates(facts.name, "quasi_identifier") or name_indicates(
        facts.name, "sensitive"
    )
    if known and not is_household:
        return None
    return _propose_repeating_key(facts, is_telling=is_telling)


def _propose_repeating_key(facts: ColumnFacts, *, is_telling: bool) -> Proposal | None:
    many = f"{pluralized(facts.distinct, 'value')} in {pluralized(facts.known, 'record')}"
    is_of_person = is_key_of_person(facts.name) and facts.distinct > 2
    may_be_key = is_key(facts.name) and is_telling and not are_too_few(facts)
    if is_of_person or may_be_key:
        return Proposal(facts, "identifier", f"a key that several records have: {many}")
    length = _LONG_NUMBER if facts.kind == "number" else _LONG_CODE
    is_code = facts.kind == "number" or facts.is_code
    if is_code and is_telling and facts.shortest >= length:
        reason = f"{length} and more characters, as keys have"
        return Proposal(facts, "identifier", f"{reason}: {many}", False)
    return None


def _propose_text(facts: ColumnFacts) -> Proposal | None:
    if facts.kind != "text":
        return None
    if facts.is_free_text:
        many = pluralized(facts.phrases, "different value")
        return Proposal(facts, "dropped", f"free text, which may name anybody: {many} of words")
    if name_indicates(facts.name, "free_text") and facts.distinct > _FEW:
        return Proposal(facts, "dropped", "its name says free text, which may name anybody")
    is_known_code = facts.is_code and name_indicates(facts.name, "quasi_identifier")
    if facts.distinction >= _NEAR_UNIQUE and facts.distinct > _FEW and not is_known_code:
        return Proposal(facts, "identifier", f"near-unique text: {singling_text(facts)}")
    return None


def _propose_by_name(facts: ColumnFacts) -> Proposal | None:
    if name_indicates(facts.name, "sensitive"):
        return _propose_sensitive(facts)
    if name_indicates(facts.name, "quasi_identifier"):
        return Proposal(facts, "quasi_identifier", f"{_KNOWN}; {singling_text(facts)}")
    return None


def _propose_sensitive(facts: ColumnFacts) -> Proposal:
    """Propose a quasi-identifier if the values are detailed enough to find a person."""
    if facts.kind == "number" and name_indicates(facts.name, "clinical"):
        reason = f"a measurement that only a clinic knows, by its name; {singling_text(facts)}"
        return Proposal(facts, "sensitive", reason)
    is_telling = facts.distinct > MOST_CATEGORIES or (facts.singled and facts.distinct > _FEW)
    if facts.kind in {"number", "date"} and is_telling:
        knows = "an employer, bank or insurer knows it and finds the person"
        reason = f"sensitive, but {singling_text(facts)}: {knows}, so in classes"
        other = (
            f"; {ROUNDED}" if facts.kind == "number" and facts.distinct > MOST_CATEGORIES else ""
        )
        return Proposal(facts, "quasi_identifier", reason + other)
    return Proposal(facts, "sensitive", f"its name says so; {singling_text(facts)}")


def _propose_by_content(facts: ColumnFacts) -> Proposal:
    """Propose a safe and still useful role; a person should decide if values may name people.

    In doubt it is a quasi-identifier: a generalized column never singles anybody out.
    """
    if facts.has_zone:
        reason = f"no mask takes a time zone; cast it in a model before; {singling_text(facts)}"
        return Proposal(facts, "dropped", reason, False)
    if facts.kind == "timestamp":
        reason = f"released to the quarter; {singling_text(facts)}"
        return Proposal(facts, "insensitive", reason, False, mask="{truncate: quarter}")
    if facts.kind == "date":
        return Proposal(
            facts, "quasi_identifier", f"a date, which others could know; {singling_text(facts)}"
        )
    if facts.kind == "text" and facts.distinct > MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"many texts; {singling_text(facts)}", False)
    prefix = _KNOWN
    if name_indicates(facts.name, "identifier"):
        prefix = "too few values to name anybody, whatever the column is called"
    elif facts.kind == "number" and facts.distinct > MOST_CATEGORIES:
        prefix = "precise number"
    return Proposal(facts, "quasi_identifier", f"{prefix}; {singling_text(facts)}")


def decide_all(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return decided proposals; undecided columns that may name people are dropped."""
    return [
        proposal
        if proposal.is_decided or proposal.role != "identifier"
        else replace(
            proposal, role="dropped", is_decided=True, reason=f"{proposal.reason}; dropped in doubt"
        )
        for proposal in proposals
    ]
