"""What a table says of its columns: counts, lengths, shares of values that look like something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

from dbt_anonymize.drafting.content import content_of, is_date
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

Kind = Literal["number", "date", "timestamp", "boolean", "text", "other"]

_KINDS: tuple[tuple[Kind, str], ...] = (
    ("boolean", r"bool"),
    ("timestamp", r"timestamp|datetime"),
    ("date", r"date$"),
    ("number", r"u?(tiny|small|big|huge)?int(eger)?\d*\b|decimal|numeric|number|float|double|real"),
    ("text", r"(var)?char|character|text|string|uuid"),
)
# Different values are counted of so many columns at once, since all of them are in memory.
_COLUMNS_AT_ONCE = 8
_HAS_ZONE = re.compile("with (local )?time zone|timestamptz|_l?tz")
# Of so many different values the looks are judged.
_VALUES_LOOKED_AT = 500


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column; nothing in it is a value.

    ``type`` is without parameters: those of an enumeration are values. ``known`` counts records
    with a value, ``phrases`` different values of several words, ``singled`` records whose value
    nobody else has, ``looks`` what most values look like; ``longest`` and ``shortest`` are lengths
    of texts and whole numbers. ``same_as`` is a column before it that says the same: each value
    goes with one value there, and the other way round.
    """

    name: str
    type: str
    kind: Kind
    records: int
    known: int
    distinct: int
    longest: int = 0
    shortest: int = 0
    phrases: int = 0
    singled: int = 0
    looks: str | None = None
    is_code: bool = False
    same_as: str | None = None

    @property
    def is_unique(self) -> bool:
        """Whether every record has a value of its own."""
        return self.records > 1 and self.distinct == self.known == self.records

    @property
    def repeats(self) -> bool:
        """Tell whether several records share a value."""
        return self.distinct < self.known

    @property
    def distinction(self) -> float:
        """Different values per record with a value."""
        return self.distinct / self.known if self.known else 0.0

    @property
    def has_zone(self) -> bool:
        """Tell whether the text of a timestamp depends on the time zone of the session."""
        return self.kind == "timestamp" and bool(_HAS_ZONE.search(self.type.lower()))

    @property
    def is_of_four_bytes(self) -> bool:
        """Tell whether it is a single-precision number, not comparable with double bounds."""
        return self.type.strip().lower() in {"float", "float4", "real"}

    @property
    def is_free_text(self) -> bool:
        """By the rule that stops a build."""
        many = self.phrases >= 10 and 10 * self.phrases > self.known
        return self.kind == "text" and (self.longest > 100 or self.phrases > 500 or many)


def kind_of(data_type: str) -> Kind:
    """Return what a type of the warehouse holds.

    Examples
    --------
    >>> kind_of("DECIMAL(12,2)"), kind_of("TIMESTAMP WITH TIME ZONE"), kind_of("VARCHAR[]")
    ('number', 'timestamp', 'other')
    """
    plain = data_type.strip().lower()
    if plain.endswith("]") or plain.startswith(("struct", "map", "interval")):
        return "other"
    return next((kind for kind, pattern in _KINDS if re.match(pattern, plain)), "other")


def name_of_type(data_type: str) -> str:
    """Return a type without its parameters, which may be values or names.

    Examples
    --------
    >>> name_of_type("ENUM('Ann', 'Bo (2)')[]"), name_of_type("TIMESTAMP(6) WITH TIME ZONE")
    ('enum[]', 'timestamp with time zone')
    """
    return " ".join(re.sub(r"[(<].*[)>]", " ", data_type.lower(), flags=re.DOTALL).split()).replace(
        " [", "["
    )


def read_facts(warehouse: Warehouse, relation: Any) -> list[ColumnFacts]:
    """Return the facts of all columns of a relation, in their order."""
    columns = [(name, kind, kind_of(kind)) for name, kind in warehouse.columns(relation)]
    quoted = {name: quote_name(name) for name, _, _ in columns}
    parts = [
        _counts(warehouse, quoted[name], kind, data_type.lower())
        for name, data_type, kind in columns
    ]
    records, found = 0, list[int]()
    for start in range(0, len(parts), _COLUMNS_AT_ONCE):
        counts = ["count(*)", *chain(*parts[start : start + _COLUMNS_AT_ONCE])]
        (row,) = warehouse.rows(f"select {', '.join(counts)} from {relation}")  # noqa: S608 (quoted)
        records, found = int(row[0]), found + [int(value or 0) for value in row[1:]]
    facts = []
    for place, (name, data_type, kind) in enumerate(columns):
        known, distinct, longest, shortest, phrases = found[5 * place : 5 * place + 5]
        values = _some_values(warehouse, relation, quoted[name]) if kind == "text" else []
        facts.append(
            ColumnFacts(
                name=name,
                type=name_of_type(data_type),
                kind=kind,
                records=records,
                known=known,
                distinct=distinct,
                longest=longest,
                shortest=shortest,
                phrases=phrases,
                singled=_singled(warehouse, relation, [quoted[name]]) if kind != "other" else 0,
                looks=content_of(values),
                is_code=bool(values) and all(map(_is_code, values)),
            )
        )
    return _with_twins(warehouse, relation, facts)


def _with_twins(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts]
) -> list[ColumnFacts]:
    """Return facts that tell which column is another one in other words, such as a square."""
    # Only columns whose values are as many, and as often, can be paired.
    counts = Counter((one.known, one.distinct) for one in facts)
    shapes = {
        one.name: (one.known, one.distinct, _squares(warehouse, relation, quote_name(one.name)))
        for one in facts
        if counts[one.known, one.distinct] > 1
        and 2 <= one.distinct < one.known
        and one.kind != "other"
    }
    found: list[ColumnFacts] = []
    for one in facts:
        alike = (
            other.name
            for other in found
            if other.same_as is None
            and one.name in shapes
            and shapes[one.name] == shapes.get(other.name)
            and _are_paired(warehouse, relation, one, other)
        )
        found.append(replace(one, same_as=next(alike, None)))
    return found


def _squares(warehouse: Warehouse, relation: Any, quoted: str) -> int:
    """Return the sum of the squares of how often each value occurs."""
    ((found,),) = warehouse.rows(
        f"select sum(records * records) from (select count(*) as records from {relation} "  # noqa: S608 (quoted)
        f"where {quoted} is not null group by {quoted}) as counted"
    )
    return int(found)


def _are_paired(warehouse: Warehouse, relation: Any, one: ColumnFacts, other: ColumnFacts) -> bool:
    """Tell whether columns of as many different values have no more pairs of them."""
    pair = f"{quote_name(one.name)}, {quote_name(other.name)}"
    is_known = f"{quote_name(one.name)} is not null or {quote_name(other.name)} is not null"
    ((pairs,),) = warehouse.rows(
        f"select count(*) from (select {pair} from {relation} "  # noqa: S608 (quoted)
        f"where {is_known} group by {pair}) as paired"
    )
    return int(pairs) == one.distinct


def singled_out(warehouse: Warehouse, relation: Any, columns: Sequence[str]) -> int:
    """Return how many records have a combination of values that nobody else has."""
    return _singled(warehouse, relation, [quote_name(name) for name in columns])


def _singled(warehouse: Warehouse, relation: Any, quoted: Sequence[str]) -> int:
    keys = ", ".join(quoted)
    ((count,),) = warehouse.rows(
        f"select count(*) from (select {keys} from {relation} "  # noqa: S608 (quoted)
        f"group by {keys} having count(*) = 1) as singled"
    )
    return int(count)


def _counts(warehouse: Warehouse, quoted: str, kind: Kind, data_type: str) -> list[str]:
    if kind == "other":
        return [f"count({quoted})", "0", "0", "0", "0"]
    counts = [f"count({quoted})", f"count(distinct {quoted})"]
    if kind == "number" and "int" in data_type:
        # A macro of dbt: a draft needs no package yet.
        text = f"cast(abs({quoted}) as {warehouse.macro('type_string', package='dbt')})"
        return [*counts, f"max(length({text}))", f"min(length({text}))", "0"]
    if kind != "text" or "uuid" in data_type:
        return [*counts, "0", "0", "0"]
    return [
        *counts,
        f"max(length({quoted}))",
        f"min(length({quoted}))",
        f"count(distinct case when trim({quoted}) like '% %' then {quoted} end)",
    ]


def _some_values(warehouse: Warehouse, relation: Any, quoted: str) -> list[str]:
    found = warehouse.rows(
        f"select distinct {quoted} from {relation} "  # noqa: S608 (quoted)
        f"where {quoted} is not null limit {_VALUES_LOOKED_AT}"
    )
    return [str(value) for (value,) in found]


def _is_code(value: str) -> bool:
    has_digit = any(character.isdigit() for character in value)
    return has_digit and " " not in value.strip() and not is_date(value)
