"""Proof that no identifier of the vault occurs where others read: release and warehouse.

Each value is looked for in four forms: as it is, without regard to case, without white space around
it, and its digits alone (of six or more). In three places, because each shows what others hide:

released cells
    Every column of the release, as text. Values of six or more characters are found as any part of
    a cell, shorter ones as a whole cell or a whole word. In cells of text also the digits of a
    value as all digits of the cell (``0113-496`` for ``0113 496``). In numbers the digits of a
    value without leading zeros as the whole number, or as a part of it from nine digits on.
    Intervals and ``cqi`` are written with the bounds of a hierarchy, so digits alone are not
    looked for in them; in tokens, which are random, only whole cells count.
bytes of the release file and of the warehouse file
    Values of six or more characters; also in what was deleted or dropped, which DuckDB leaves in
    the file until it needs the space, and in its log. DuckDB compresses larger columns of text by
    their common parts (DICT_FSST, Zstandard), and what is compressed is not found here. So a text
    that was compressed and then dropped is found nowhere: a warehouse that once held identifiers
    has to be made anew.
cells of the warehouse
    Values of six or more characters in every text column of every table of the warehouse, which
    finds what compression hides from the search of the bytes.

What is not searched for is counted in the message: numbers that a declared hierarchy itself writes,
and texts so short that chance alone would put them into a large file or into random tokens. The
identifiers of people who have left the source since are not known any more. A value in another
writing (an anagram, a hash, a nickname) is not found by any search: that is what the proof of
lineage is for.

An identifier that holds ordinary words (a town, a first name like *May*) may be in the release for
another reason. It is not told apart, since nothing can tell it apart: the finding says which
column, how many values, and how many of these many people share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project import Project
from dbt_anonymize.spec import Spec
from dbt_anonymize.verification import identifier_values as forms
from dbt_anonymize.verification.finding import Finding
from dbt_anonymize.verification.identifier_values import (
    IdentifierValues,
    Patterns,
    folded,
    read_identifier_values,
)
from dbt_anonymize.verification.relations import (
    Released,
    as_text,
    cursor_of,
    is_duckdb,
    open_release,
    stream,
    text_of,
)
from dbt_anonymize.warehouse import Warehouse

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["text", "label", "interval", "token", "number"]
# Stands between cells: no identifier contains it.
_BETWEEN = "\x00"
_WHOLE_NUMBER = re.compile(r"-?0*([0-9]+)(?:\.0*)?")
_NUMBERS = re.compile(
    r"(?:u?(?:tiny|small|big|huge)?int(?:eger)?|float|real|double(?: precision)?|decimal|numeric)"
    r"(?:\(.*\))?",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(r"(?:date|time|boolean|bool|uuid|interval)\b.*|timestamp.*", re.IGNORECASE)
# How many texts may be found by chance alone.
_BY_CHANCE = 0.1
_HEXADECIMAL = frozenset(b"0123456789abcdefABCDEF-")
_IDENTIFIER_SOURCES = {"class": "the vault", "token": "the vault", "none": "the source"}


@dataclass
class _Tally:
    """Distinct values of each identifier that occur in one place, and those left out."""

    found: dict[str, int] = field(default_factory=dict)
    common: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def add(self, values: IdentifierValues, occur: NDArray[Any]) -> None:
        for place, name in enumerate(values.columns):
            here = occur & (values.column_of == place)
            self.found[name] = self.found.get(name, 0) + int(here.sum())
            self.common[name] = self.common.get(name, 0) + int((here & values.is_common).sum())

    @property
    def is_clean(self) -> bool:
        return not any(self.found.values())

    def __str__(self) -> str:
        listed = []
        for name, number in self.found.items():
            common = f" ({self.common[name]} of many people)" if self.common[name] else ""
            listed += [f"{number} of {name}{common}"] if number else []
        return ", ".join(listed)


@dataclass(frozen=True)
class _Place:
    """Somewhere to search: how it is called, what to say if it fails, and the search itself."""

    subject: str
    remedy: str
    search: Callable[[IdentifierValues, _Tally], NDArray[Any]]


_OF_A_COLUMN = (
    "Remove the column from the release (role identifier), or clean it in a model before. If the "
    "values are ordinary words that many people share, they do not name a person: give that "
    "column another role, or rename the labels that repeat them."
)
_OF_A_FILE = (
    "Raw identifiers were in this file. Load the source into the vault, delete the file, and build "
    "again. If the values are ordinary words that other columns use too, give the identifier "
    "another role."
)
_OF_A_TABLE = (
    "Whoever opens the warehouse reads it. Keep the table in the vault, or drop the column and "
    "make the warehouse anew."
)


def check_content(
    warehouse: Warehouse, project: Project, spec: Spec, *, release: Path
) -> list[Finding]:
    """Search release and warehouse for the values of all identifiers.

    Parameters
    ----------
    warehouse : Warehouse
        With the vault.
    project : Project
        Findings name files relative to its folder.
    spec : Spec
        The anonymization.
    release : Path
        The release file; not read where the warehouse is not DuckDB.

    Returns
    -------
    list of Finding
        One for each released column, file, and column of the warehouse where something is found;
        one for all columns of the warehouse otherwise. Counts of distinct values, never a value.

    Raises
    ------
    VerificationError
        If the release cannot be read.
    WarehouseError
        If vault or source cannot be read.
    """
    with open_release(warehouse, spec, release) as released:
        columns = list(_released_columns(released, spec))
        files = list(_files(warehouse, project, spec, released, release))
        tables = list(_warehouse_columns(warehouse, spec))
        places = [*columns, *files, *tables]
        tallies = [_Tally() for _ in places]
        searched = 0
        for values in read_identifier_values(warehouse, spec):
            searched += len(values.texts)
            for place, tally in zip(places, tallies, strict=True):
                tally.add(values, place.search(values, tally))
    findings = [
        _finding(place, tally, searched)
        for number, (place, tally) in enumerate(zip(places, tallies, strict=True))
        # Of the many columns of a warehouse only those where something is found.
        if number < len(columns) + len(files) or not tally.is_clean
    ]
    return [*findings, *_of_the_whole(warehouse, spec, searched, tables, findings)]


def _finding(place: _Place, tally: _Tally, searched: int) -> Finding:
    left_out = f"; {tally.left_out:,} of them cannot be told from chance" if tally.left_out else ""
    if tally.is_clean:
        message = f"none of {searched:,} values of identifiers occurs here{left_out}"
    else:
        message = f"values of identifiers occur here: {tally}{left_out}. {place.remedy}"
    return Finding("content", place.subject, tally.is_clean, message)


def _of_the_whole(
    warehouse: Warehouse,
    spec: Spec,
    searched: int,
    tables: Sequence[_Place],
    findings: Sequence[Finding],
) -> Iterator[Finding]:
    """Say what was searched at all, so that nothing was not searched in silence."""
    if not searched:
        where = _IDENTIFIER_SOURCES[spec.mapping]
        if spec.identifiers:
            yield Finding(
                "content",
                "identifiers",
                False,
                f"{where} must hold values of the identifiers; it holds none, so nothing was "
                "searched for. Build it again.",
            )
        else:
            yield Finding("content", "identifiers", True, "the spec declares no identifiers")
    if not is_duckdb(warehouse):
        yield Finding(
            "content",
            "files",
            None,
            f"{warehouse.adapter.type()} keeps no files that others open, so none was searched; "
            "grants decide who reads which schema.",
        )
        return
    found = {finding.subject for finding in findings}
    if not found & {place.subject for place in tables}:
        yield Finding(
            "content",
            "warehouse",
            True,
            f"none of {searched:,} values of identifiers occurs in {len(tables)} text columns of "
            "the warehouse",
        )


# Released cells -------------------------------------------------------------------------------


def _released_columns(released: Released, spec: Spec) -> Iterator[_Place]:
    for name, data_type in released.columns.items():
        kind = _kind(name, data_type, spec)
        yield _Place(
            f"{spec.name}_anonymized.{name}",
            _OF_A_COLUMN,
            _search_of_column(released, name, kind, is_text=_is_text(data_type)),
        )


def _kind(name: str, data_type: str, spec: Spec) -> Kind:
    if name == "token" and spec.mapping == "token":
        return "token"
    for attribute, hierarchy in spec.quasi_identifiers.items():
        if hierarchy.kind == "interval" and name in {
            attribute,
            f"{attribute}_lower",
            f"{attribute}_upper",
        }:
            return "interval"
        if name == attribute:
            return "label"
    if name == "cqi":
        return "interval"
    return "number" if _NUMBERS.fullmatch(data_type) else "text"


def _is_text(data_type: str) -> bool:
    """Whether a column may hold any text; dates and the like are written with digits alone."""
    return not (_NUMBERS.fullmatch(data_type) or _NO_TEXT.fullmatch(data_type))


def _search_of_column(
    released: Released, name: str, kind: Kind, *, is_text: bool
) -> Callable[[IdentifierValues, _Tally], NDArray[Any]]:
    text = as_text(released.quoted(name))
    sql = f"select distinct {text} from {released.relation} where {text} is not null"  # noqa: S608

    def cells() -> Iterator[list[str]]:
        for batch in stream(released.cursor, sql):
            yield [row[0] for row in batch]

    def search(values: IdentifierValues, _: _Tally) -> NDArray[Any]:
        if kind == "number":
            return values.patterns(forms.forms_as_number).values_in(map(_numbers, cells()))
        if kind == "token":
            return values.patterns(forms.forms_as_cells).values_in(map(_joined, cells()))
        words = values.patterns(forms.forms_in_cells)
        if kind == "interval":
            words = words.that_are(~_are_digits(words))
        found = words.values_in(map(_joined, cells()))
        if kind == "text" and is_text:
            found |= values.patterns(forms.forms_as_digits).values_in(map(_digits, cells()))
        return found

    return search


def _joined(cells: Sequence[str]) -> bytes:
    """Put cells one after the other, as they are compared."""
    return _encoded(folded(_BETWEEN.join(cells)))


def _digits(cells: Sequence[str]) -> bytes:
    return _encoded(_BETWEEN.join(map(forms.digits, cells)))


def _numbers(cells: Sequence[str]) -> bytes:
    """Put whole numbers one after the other, without sign and leading zeros."""
    matches = map(_WHOLE_NUMBER.fullmatch, cells)
    return _encoded(_BETWEEN.join(match[1] for match in matches if match))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _are_digits(patterns: Patterns) -> NDArray[Any]:
    flags = (pattern.isdigit() for pattern in patterns.patterns)
    return np.fromiter(flags, dtype=bool, count=len(patterns.patterns))


# Bytes of files -------------------------------------------------------------------------------


def _files(
    warehouse: Warehouse, project: Project, spec: Spec, released: Released, release: Path
) -> Iterator[_Place]:
    if not is_duckdb(warehouse):
        return
    tokens = _bytes_of_tokens(released, spec)
    # What a build that was killed left beside the release is as readable as the release.
    beside = sorted(release.parent.glob(f".{release.name}.*"))
    for path in [release, *beside, *_files_of(_database(warehouse)[1])]:
        if path.is_file():
            resolved = path.resolve()
            root = project.root.resolve()
            name = resolved.relative_to(root) if resolved.is_relative_to(root) else resolved
            search = _search_of_file(path, _hierarchy_texts(warehouse, spec), tokens)
            yield _Place(str(name), _OF_A_FILE, search)


def _files_of(database: Path | None) -> Iterator[Path]:
    """Yield a database file with its log and what was spilled from memory."""
    if database is None:
        return
    yield database
    yield Path(f"{database}.wal")
    yield from sorted(Path(f"{database}.tmp").glob("*"))


def _search_of_file(
    path: Path, hierarchies: Sequence[bytes], tokens: int
) -> Callable[[IdentifierValues, _Tally], NDArray[Any]]:
    def search(values: IdentifierValues, tally: _Tally) -> NDArray[Any]:
        patterns = values.patterns(forms.forms_in_bytes)
        told = _worth_searching(patterns, path.stat().st_size, tokens)
        told &= ~_are_written_by(hierarchies, patterns)
        tally.left_out += int((~patterns.values_of(told) & patterns.values_of(~told)).sum())
        patterns = patterns.that_are(told)
        if not patterns.patterns:
            return patterns.values_of(np.zeros(0, dtype=bool))
        return patterns.values_of(patterns.search.occur_in_file(path))

    return search


def _worth_searching(patterns: Patterns, size: int, tokens: int) -> NDArray[Any]:
    """Tell which patterns are too long to be in random bytes, or random tokens, by chance."""
    number = len(patterns.patterns)
    lengths = np.fromiter(map(len, patterns.patterns), dtype=np.float64, count=number)
    chance = number * size / 256.0**lengths
    if tokens:
        flags = (_HEXADECIMAL.issuperset(pattern) for pattern in patterns.patterns)
        hexadecimal = np.fromiter(flags, dtype=bool, count=number)
        chance += np.where(hexadecimal, number * tokens / 16.0**lengths, 0.0)
    worth: NDArray[Any] = chance < _BY_CHANCE
    return worth


def _bytes_of_tokens(released: Released, spec: Spec) -> int:
    if spec.mapping != "token" or "token" not in released.columns:
        return 0
    sql = f"select coalesce(sum(length(token)), 0) from {released.relation}"  # noqa: S608
    return int(released.rows(sql)[0][0])


def _hierarchy_texts(warehouse: Warehouse, spec: Spec) -> list[bytes]:
    """Return what the hierarchies of the spec write: labels, values and bounds."""
    pieces = []
    references = {h.ref for h in (*spec.quasi_identifiers.values(), *_sensitive(spec))}
    for reference in sorted(references):
        relation = warehouse.relation_of_ref(reference)
        for name, _ in warehouse.columns(relation):
            text = text_of(warehouse, name)
            sql = f"select distinct {text} from {relation} where {text} is not null"  # noqa: S608
            pieces.append(_joined([row[0] for row in warehouse.rows(sql)]))
    return pieces


def _sensitive(spec: Spec) -> Iterator[Any]:
    yield from spec.sensitive_hierarchies.values()


def _are_written_by(hierarchies: Sequence[bytes], patterns: Patterns) -> NDArray[Any]:
    """Tell which patterns are digits that a hierarchy writes: bounds and codes of the public."""
    numbers = _are_digits(patterns)
    found = np.zeros(len(patterns.patterns), dtype=bool)
    if numbers.any():
        search = patterns.that_are(numbers).search
        for piece in hierarchies:
            found[numbers] |= search.occur_in(piece)
    return found


# Cells of the warehouse -----------------------------------------------------------------------


def _database(warehouse: Warehouse) -> tuple[str, Path | None]:
    """Return the name and the file of the warehouse; no file for one in memory."""
    ((name, path),) = warehouse.rows(
        "select database_name, path from duckdb_databases() "
        "where database_name = current_database()"
    )
    return str(name), Path(path) if path else None


def _warehouse_columns(warehouse: Warehouse, spec: Spec) -> Iterator[_Place]:
    """Yield every column of every table of the warehouse that may hold text."""
    if not is_duckdb(warehouse):
        return
    database, _ = _database(warehouse)
    hierarchies = _hierarchy_texts(warehouse, spec)
    found = warehouse.rows(
        "select c.schema_name, c.table_name, c.column_name, c.data_type "  # noqa: S608
        "from duckdb_columns() as c inner join duckdb_tables() as t "
        "on c.table_oid = t.table_oid and c.database_oid = t.database_oid "
        f"where c.database_name = {quote_text(database)} "
        "order by c.schema_name, c.table_name, c.column_index"
    )
    for schema, table, column, data_type in found:
        is_token = table == f"{spec.name}_anonymized" and column == "token"
        if _is_text(data_type) and not is_token:
            relation = ".".join(map(quote_name, (database, schema, table)))
            yield _Place(
                f"{schema}.{table}.{column}",
                _OF_A_TABLE,
                _search_of_table(warehouse, relation, column, hierarchies),
            )


def _search_of_table(
    warehouse: Warehouse, relation: str, column: str, hierarchies: Sequence[bytes]
) -> Callable[[IdentifierValues, _Tally], NDArray[Any]]:
    text = as_text(quote_name(column))
    sql = f"select distinct {text} from {relation} where {text} is not null"  # noqa: S608

    def search(values: IdentifierValues, tally: _Tally) -> NDArray[Any]:
        patterns = values.patterns(forms.forms_in_tables)
        known = _are_written_by(hierarchies, patterns)
        tally.left_out += int((patterns.values_of(known) & ~patterns.values_of(~known)).sum())
        batches = stream(cursor_of(warehouse), sql)
        cells = (_joined([row[0] for row in batch]) for batch in batches)
        return patterns.that_are(~known).values_in(cells)

    return search
