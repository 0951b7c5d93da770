"""A proposed role for each column, with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.names import is_key, is_key_of_person, said_by
from dbt_anonymize.drafting.refusals import find_dropped, find_predictable
from dbt_anonymize.drafting.survival import find_time
from dbt_anonymize.errors import SpecError
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
# More quasi-identifiers leave nobody with others alike.
MOST_QUASI = 12
# A column that alone explains so much of the target is seldom known before it.
_GIVES_AWAY = 0.5
# Texts of at most so many characters (yes, no, a code) name nobody.
_YES_OR_NO = 3
_PREDICTED = {"sensitive", "insensitive", "quasi_identifier"}
_KNOWN = "others could know it"
_OF_SNAPSHOTS = {"dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted"}


@dataclass(frozen=True)
class Proposal:
    """A role of a column; ``KEY`` is the record key, which has none.

    ``is_decided``: names or values say so; else a person should look at it. ``is_time``: the time
    until the target happens.
    """

    facts: ColumnFacts
    role: str
    reason: str
    is_decided: bool = True
    is_target: bool = False
    is_time: bool = False
    mask: str | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name

    @property
    def is_telling(self) -> bool:
        """Tell whether it is released as it is, and finds records by itself."""
        is_kept = self.role in {"sensitive", "insensitive"} and not self.mask
        return is_kept and self.facts.distinct > _MOST_CATEGORIES and self.facts.singled > 0

    @property
    def gives_away(self) -> bool:
        """Tell whether models learn the target from it alone: part of it, or what follows it."""
        is_feature = self.role in _PREDICTED and not (self.is_target or self.is_time)
        return is_feature and (self.facts.tells or 0.0) >= _GIVES_AWAY


def propose(
    facts: Sequence[ColumnFacts],
    predict: str | None = None,
    time: str | None = None,
    *,
    is_guessed: bool = True,
    drop: Sequence[str] = (),
) -> list[Proposal]:
    """Return a proposal for each column, in their order.

    ``predict`` names the target, ``time`` the time until it happens; a column that models cannot
    predict is a `SpecError`. Without a name the target ``is_guessed``, or there is none. Columns to
    ``drop`` are neither.
    """
    wanted = None if predict is None else find_predictable(facts, predict)
    timed = find_time(facts, wanted, time) if wanted and time else None
    dropped = find_dropped(facts, drop, used=[wanted, timed])
    key = _key([one for one in facts if one not in (wanted, timed, *dropped)])
    given = {one.name: Proposal(one, "dropped", "left out by --drop") for one in dropped}
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
    limited = _limited(_without_what_follows(targeted))
    if timed is not None and target is not None:
        what = f"time until {target.name} or the last sight, which models predict; {_alone(timed)}"
        limited.insert(facts.index(timed), Proposal(timed, "sensitive", what, is_time=True))
    return limited


def _without_what_follows(found: Sequence[Proposal]) -> list[Proposal]:
    """Drop what follows from another column, and what tells the target: a number of cigarettes."""
    target = next((one for one in found if one.is_target), None)
    telling = target.facts.follows if target else ()
    predicted = [one for one in found if one.role in _PREDICTED]
    open_ = [one for one in predicted if one.name not in telling]
    kept: dict[str, Proposal] = {}
    dropped = {
        one.name: f"each of its values has one {target.name}, so models would learn nothing else"
        for one in predicted
        if target and one.name in telling
    }
    for one in sorted(open_, key=_detail):
        finer = next((n for n in one.facts.follows if n in kept and _replaces(kept[n], one)), None)
        if finer is None or one.is_target:
            kept[one.name] = one
        else:
            dropped[one.name] = f"it follows from {finer}: each value of that has one of these"
    return [
        replace(one, role="dropped", reason=dropped[one.name], mask=None, is_decided=True)
        if one.name in dropped
        else one
        for one in found
    ]


def _replaces(finer: Proposal, one: Proposal) -> bool:
    """Tell whether a column is needless beside a finer one; groups of hundreds of codes are not."""
    many = finer.facts.distinct > max(_MOST_CATEGORIES, one.facts.distinct)
    return finer.is_target or not many


def _detail(one: Proposal) -> tuple[bool, int, int]:
    """Order the target first, then columns of many values, of two that are alike the plain name."""
    return not one.is_target, -one.facts.distinct, len(one.name)


def _as_target(found: Proposal, predict: str | None) -> Proposal:
    classes = counted(found.facts.distinct, "class", "classes")
    shown = "a number" if is_amount(found.facts) else classes
    if found.facts.distinct > _MOST_CATEGORIES:
        shown += (
            f"; {_alone(found.facts)}, and released as it is: whoever knows it of somebody finds "
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


def is_amount(facts: ColumnFacts) -> bool:
    """Tell whether models predict a column as a number, not as a class."""
    return facts.kind == "number" and facts.distinct > _MOST_CLASSES


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
    if said_by(facts.name, "sampling_weight") and facts.distinct > _MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"a weight of a sample, by its name; {_alone(facts)}")
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
        what = f"its name says so, and {counted(facts.distinct, 'value')} may name people"
        return Proposal(facts, "identifier", what, False)
    if facts.is_unique and not facts.is_fractional and not facts.is_free_text:
        return Proposal(facts, "identifier", "every record has another value")
    is_household = is_telling and is_key(facts.name) and said_by(facts.name, "household")
    known = said_by(facts.name, "quasi_identifier") or said_by(facts.name, "sensitive")
    if known and not is_household:
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
        return _sensitive(facts)
    if said_by(facts.name, "quasi_identifier"):
        return Proposal(facts, "quasi_identifier", f"{_KNOWN}; {_alone(facts)}")
    return None


def _sensitive(facts: ColumnFacts) -> Proposal:
    """Propose classes where values are so many that they find a person as a quasi-identifier."""
    is_telling = facts.distinct > _MOST_CATEGORIES or (facts.singled and facts.distinct > _FEW)
    if facts.kind in {"number", "date"} and is_telling:
        knows = "an employer, bank or insurer knows it and finds the person"
        mask = "; or make it insensitive with a mask such as {round: 1000}"
        what = f"sensitive, but {_alone(facts)}: {knows}, so in classes"
        other = mask if facts.kind == "number" and facts.distinct > _MOST_CATEGORIES else ""
        return Proposal(facts, "quasi_identifier", what + other)
    return Proposal(facts, "sensitive", f"its name says so; {_alone(facts)}")


def _by_content(facts: ColumnFacts) -> Proposal:
    """Propose what is safe and still useful; a person should decide where people may be named.

    In doubt others could know it: a column that is generalized never singles anybody out.
    """
    if facts.has_zone:
        reason = f"no mask takes a time zone; cast it in a model before; {_alone(facts)}"
        return Proposal(facts, "dropped", reason, False)
    if facts.kind == "timestamp":
        reason = f"released to the quarter; {_alone(facts)}"
        return Proposal(facts, "insensitive", reason, False, mask="{truncate: quarter}")
    if facts.kind == "date":
        return Proposal(
            facts, "quasi_identifier", f"a date, which others could know; {_alone(facts)}"
        )
    if facts.kind == "text" and facts.distinct > _MOST_CATEGORIES:
        return Proposal(facts, "dropped", f"many texts; {_alone(facts)}", False)
    what = _KNOWN
    if said_by(facts.name, "identifier"):
        what = "too few values to name anybody, whatever the column is called"
    elif facts.kind == "number" and facts.distinct > _MOST_CATEGORIES:
        what = "precise number"
    return Proposal(facts, "quasi_identifier", f"{what}; {_alone(facts)}")


def _limited(found: Sequence[Proposal]) -> list[Proposal]:
    """Return proposals with the quasi-identifiers that are known best; the others are dropped.

    With many of them nearly everybody is alone, and every effort would be `*` everywhere.
    """
    quasi = [one for one in found if one.role == "quasi_identifier" and not one.is_target]
    kept = set(map(id, sorted(quasi, key=_obscurity)[:MOST_QUASI]))
    more = f"{len(quasi)} columns others could know are too many to generalize: "
    return [
        one
        if one not in quasi or id(one) in kept
        else replace(
            one, role="dropped", reason=f"{more}{MOST_QUASI} are kept; {_alone(one.facts)}"
        )
        for one in found
    ]


def _obscurity(one: Proposal) -> tuple[int, float, int]:
    """Rank a quasi-identifier: first what its name tells, what tells of the target, few values."""
    kinds = ("quasi_identifier", "sensitive")
    said = next((rank for rank, kind in enumerate(kinds) if said_by(one.name, kind)), len(kinds))
    return said, -(one.facts.tells or 0.0), one.facts.distinct


def take_all(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return decided proposals: what may name people, which nobody was asked, is dropped."""
    return [
        one
        if one.is_decided or one.role != "identifier"
        else replace(one, role="dropped", is_decided=True, reason=f"{one.reason}; dropped in doubt")
        for one in proposals
    ]


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
    """Return what models could predict: a column called so, else the last one of few classes.

    What others could know of anybody by its name (sex, region) is rather learned from.
    """
    open_ = [one for one in found if one.role in _PREDICTED and one.mask is None]
    usable = [one for one in open_ if one.facts.known == one.facts.records]
    classes = [one for one in usable if 2 <= one.facts.distinct <= _FEW]
    named = [one for one in classes if said_by(one.name, "target")]
    sensitive = [one for one in classes if one.role == "sensitive"]
    unknown = [one for one in classes if not said_by(one.name, "quasi_identifier")]
    return next((some[-1] for some in (named, sensitive, unknown) if some), None)


def _alone(facts: ColumnFacts) -> str:
    values = counted(facts.distinct, "value")
    return f"{values}, {counted(facts.singled, 'record')} singled out by it alone"
