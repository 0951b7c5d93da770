"""Statistics of columns: counts, lengths, shares of values of a recognized kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, permutations
from typing import Any, Literal

from dbt_anonymize.extensions.drafting.content import is_date, recognize_content
from dbt_anonymize.extensions.hierarchy_builders.table_column import read_as_null
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
# Columns whose distinct values are counted at once, since all of them are in memory.
_COLUMNS_AT_ONCE = 8
_HAS_ZONE = re.compile("with (local )?time zone|timestamptz|_l?tz")
# Limits of counted dependencies: pairs of columns, records of all pairs together; and the least
# records per value of the finer column.
_MOST_PAIRS, _MOST_PAIRED, _RECORDS_OF_A_VALUE = 300, 30_000_000, 10
# Records by which most pairs are seen to be none, without a count of all.
_SAMPLED_RECORDS = 2_000
# Postcodes of the United Kingdom, Canada and the Netherlands.
_PARTED = re.compile(
    r"[a-z]{1,2}\d[a-z\d]? \d[a-z]{2}|[a-z]\d[a-z] \d[a-z]\d|\d{4} [a-z]{2}",
    re.ASCII | re.IGNORECASE,
)
# Distinct values that are read to recognize their content.
_SAMPLED_VALUES = 500


@dataclass(frozen=True)
class ColumnFacts:
    """Statistics of a column; none of them is a value.

    ``type`` is without parameters: those of an enumeration are values. ``known`` counts records
    with a value, ``phrases`` distinct values of several words, ``singled`` records with a unique
    value; ``looks`` is the recognized content; ``longest`` and ``shortest`` are lengths of texts
    that are not empty and of whole numbers, ``empty`` counts records with a text that no seed can
    hold, see `read_as_null`.
    ``follows`` names the columns that determine it, ``tells`` is the explained share of the target
    (`target_shares`). ``known_with`` is the reason why it is known only together with what is
    predicted (`companions`), ``family`` the columns of 0 and 1 that are one attribute with it, with
    the records of each (`families`).
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
    follows: tuple[str, ...] = ()
    tells: float | None = None
    known_with: str = ""
    family: tuple[tuple[str, int], ...] = ()
    empty: int = 0

    @property
    def is_unique(self) -> bool:
        """Tell whether every record has a value of its own."""
        return self.records > 1 and self.distinct == self.known == self.records

    @property
    def explains(self) -> str:
        """Explained share of the target, in words."""
        return f"explains {self.tells or 0.0:.0%}"

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
    def is_fractional(self) -> bool:
        """Tell whether it is a number that need not be whole."""
        return self.kind == "number" and "int" not in self.type.lower()

    @property
    def is_free_text(self) -> bool:
        """Tell whether it is free text, by the rule that stops a build."""
        if self.is_code:
            return False
        many = self.phrases >= 10 and 10 * self.phrases > self.known
        return self.kind == "text" and (self.longest > 100 or self.phrases > 500 or many)


def kind_of(data_type: str) -> Kind:
    """Return the kind of a type of the warehouse.

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
    records, numbers = 0, list[int]()
    for start in range(0, len(parts), _COLUMNS_AT_ONCE):
        counts = ["count(*)", *chain(*parts[start : start + _COLUMNS_AT_ONCE])]
        (row,) = warehouse.rows(f"select {', '.join(counts)} from {relation}")  # noqa: S608 (quoted)
        records, numbers = int(row[0]), numbers + [int(value or 0) for value in row[1:]]
    facts = []
    for place, (name, data_type, kind) in enumerate(columns):
        known, distinct, longest, shortest, phrases, empty = numbers[6 * place : 6 * place + 6]
        values = _sample_values(warehouse, relation, quoted[name]) if kind == "text" else []
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
                empty=empty,
                singled=_singled(warehouse, relation, [quoted[name]]) if kind != "other" else 0,
                looks=recognize_content(values),
                is_code=bool(values) and all(map(_is_code, values)),
            )
        )
    return _with_finer_columns(warehouse, relation, facts)


def _with_finer_columns(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts]
) -> list[ColumnFacts]:
    """Return facts with the columns that determine each column, as `age` determines `ageGroup`."""
    pairs = [
        (finer, coarser)
        for finer, coarser in permutations(
            [column for column in facts if column.kind != "other"], 2
        )
        if 2 <= coarser.distinct <= finer.distinct and _may_determine(finer, coarser)
    ]
    named = dict.fromkeys(column.name for pair in pairs for column in pair)
    sample = _sampled(warehouse, relation, list(named)) if pairs else {}
    pairs = [pair for pair in pairs if not _contradicts(sample, *pair)]
    finer_columns = {column.name: list[str]() for column in facts}
    pairs.sort(key=lambda pair: pair[0].distinct - pair[1].distinct)
    most = min(_MOST_PAIRS, _MOST_PAIRED // max(1, facts[0].records if facts else 0))
    for finer, coarser in pairs[:most]:
        keys = f"{quote_name(finer.name)}, {quote_name(coarser.name)}"
        ((count,),) = warehouse.rows(
            f"select count(*) from (select {keys} from {relation} group by {keys}) as pairs"  # noqa: S608 (quoted)
        )
        if int(count) == finer.distinct + (finer.known < finer.records):
            finer_columns[coarser.name].append(finer.name)
    return [replace(column, follows=tuple(finer_columns[column.name])) for column in facts]


def _sampled(warehouse: Warehouse, relation: Any, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of some records by column, any of them: they can only contradict."""
    listed = ", ".join(map(quote_name, columns))
    rows = warehouse.rows(f"select {listed} from {relation} limit {_SAMPLED_RECORDS}")  # noqa: S608
    # In SQL one NaN is like another.
    return {
        name: ["NaN" if row[place] != row[place] else row[place] for row in rows]
        for place, name in enumerate(columns)
    }


def _contradicts(
    sample: Mapping[str, Sequence[Any]], finer: ColumnFacts, coarser: ColumnFacts
) -> bool:
    """Tell whether sampled records have several values of one column for one of the other."""
    values = sample[finer.name]
    return len({*zip(values, sample[coarser.name], strict=True)}) > len({*values})


def _may_determine(finer: ColumnFacts, coarser: ColumnFacts) -> bool:
    """Tell whether a dependency is worth counting; a nearly unique column determines all others."""
    is_twin = (finer.known, finer.distinct, finer.singled) == (
        (coarser.known, coarser.distinct, coarser.singled)
    )
    is_shared = finer.distinct * _RECORDS_OF_A_VALUE <= finer.known
    return not finer.is_unique and (is_shared or (is_twin and finer.repeats))


def find_column(facts: Sequence[ColumnFacts], name: str) -> ColumnFacts | None:
    """Return the column of a name, in any case; None without one."""
    return next((column for column in facts if column.name.lower() == name.lower()), None)


def singled_out(warehouse: Warehouse, relation: Any, columns: Sequence[str]) -> int:
    """Return the number of records with a unique combination of values."""
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
        return [f"count({quoted})", *["0"] * 5]
    counts = [f"count({quoted})", f"count(distinct {quoted})"]
    if kind == "number" and "int" in data_type:
        # A macro of dbt: a draft needs no package yet.
        text = f"cast(abs({quoted}) as {warehouse.macro('type_string', package='dbt')})"
        return [*counts, f"max(length({text}))", f"min(length({text}))", "0", "0"]
    if kind != "text" or "uuid" in data_type:
        return [*counts, *["0"] * 4]
    return [
        *counts,
        f"max(length({quoted}))",
        f"min(nullif(length({quoted}), 0))",
        f"count(distinct case when trim({quoted}) like '% %' then {quoted} end)",
        f"sum({read_as_null(quoted)})",
    ]


def _sample_values(warehouse: Warehouse, relation: Any, quoted: str) -> list[str]:
    rows = warehouse.rows(
        f"select distinct {quoted} from {relation} "  # noqa: S608 (quoted)
        f"where {quoted} is not null limit {_SAMPLED_VALUES}"
    )
    return [str(value) for (value,) in rows if str(value)]


def _is_code(value: str) -> bool:
    """Tell whether a value has a digit and no spaces, or is a postcode in two parts."""
    if _PARTED.fullmatch(value.strip()):
        return True
    has_digit = any(character.isdigit() for character in value)
    return has_digit and " " not in value.strip() and not is_date(value)
