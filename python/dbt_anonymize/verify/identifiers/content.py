r"""Proof that no identifier of the vault occurs where others read: release and warehouse.

Each value is looked for in four forms: as it is, without regard to case, white space and
punctuation beyond ASCII, and its digits alone (of six or more). In three places, because each shows
what others hide:

released cells (`released_cells`)
    Every column of the release, as text. Values of six or more characters (a Chinese, Japanese,
    Korean or Thai character counts twice) are found as any part of a cell, shorter ones as a whole
    cell or a whole word; where an alphabet has no spaces, two characters are found anywhere. In
    cells of text also the digits of a value as all digits of the cell (``0113-496`` for
    ``0113 496``). In numbers the digits of a value without leading zeros as the whole number, or as
    a part of it from nine digits on; those of fewer than six, and of short record keys, where the
    column has so many that it is no chance (`chance`). Intervals and ``cqi`` are written with the
    bounds of a hierarchy, so digits and dates alone are not looked for in them; in tokens, which
    are random, only whole cells count. Comments and defaults in the file are searched as cells are.
bytes of the release file and of the warehouse file (`file_bytes`)
    Values of six or more characters; also in what was deleted or dropped, which DuckDB leaves in
    the file until it needs the space, and in its log. DuckDB compresses larger columns of text by
    their common parts (DICT_FSST, Zstandard), and what is compressed is not found here, nor are
    numbers. So a text that was compressed and then dropped is found nowhere: a warehouse that once
    held identifiers has to be made anew.
cells of the warehouse (`warehouse_cells`)
    Values of six or more characters in every column of text and of UUIDs of every table of the
    warehouse, which finds what compression hides from the search of the bytes; their digits as
    whole numbers, of six to eight where they are no chance. Columns of times, booleans and random
    tokens, numbers that are called like the record key, and dates that are called like a
    quasi-identifier are not searched: the working tables have them.

Texts are also read without the escapes of JSON (``Jos\u00e9``, ``\/``, ``\"``), and in bytes long
values are looked for as JSON writes them, also in another case.

A value that is a date and nothing else (of birth, mostly) counts nowhere by itself: there are few
days, and many people share them. Days are read from dates, timestamps, texts and numbers (year
first) of all three places, and count where there are more than by chance (`chance`). Those that a
hierarchy writes are nobody's in labels, warehouse and files; nor are those of a raw
quasi-identifier in the file of the warehouse, which may have it.

The record key is looked for in the release, cells and bytes, where it is a text of six or more
characters or a number of nine or more digits; a shorter number as a column of the release. The
working tables have it.

What is not searched for, or found and yet not told from chance, is counted in the message: numbers
that a declared hierarchy itself writes, texts so short that chance alone would put them into a
large file or into random tokens, short record keys that are words, and numbers and dates where
equal ones are to be expected: a table of a million numbers of six digits has the six digits of
everybody. The identifiers of people who have left the source since are not known any more. A value
in another writing (an anagram, a hash, a nickname) is not found by any search: that is what
recomputation and provenance are for.

An identifier that holds ordinary words (a town, a first name like *May*) may be in the release for
another reason. It is not told apart, since nothing can tell it apart: the finding says which
column, how many values, and how many of these many people share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.identifiers.file_bytes import bytes_of_tokens, file_places
from dbt_anonymize.verify.identifiers.released_cells import released_places
from dbt_anonymize.verify.identifiers.search_targets import Hits, Place, Tally, Written
from dbt_anonymize.verify.identifiers.values import IdentifierValues, identifier_values
from dbt_anonymize.verify.identifiers.warehouse_cells import WarehouseColumns, warehouse_columns
from dbt_anonymize.verify.relations import open_release

_IDENTIFIER_SOURCES = {"class": "the vault", "token": "the vault", "none": "the source"}


@dataclass
class _Searched:
    """How many values were searched for."""

    identifiers: int = 0
    keys: int = 0
    short_keys: int = 0
    left_out: int = 0

    def add(self, values: IdentifierValues) -> None:
        keys, short = int(values.is_key.sum()), int(values.is_short_key.sum())
        self.identifiers += len(values.texts) - keys
        self.keys += keys - short
        self.short_keys += short
        self.left_out += values.left_out


def check_content(
    warehouse: Warehouse, project: Project, spec: Spec, *, release: Path
) -> list[Finding]:
    """Search release and warehouse for the values of all identifiers and the record key.

    Parameters
    ----------
    warehouse : Warehouse
        DuckDB, with the vault; what does not fit into memory must be spilled in private.
    project : Project
        Findings name files relative to its folder.
    spec : Spec
        The anonymization.
    release : Path
        The release file.

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
    written = Written(warehouse, spec)
    database, file = _database(warehouse)
    with open_release(spec, release) as released:
        ours = [
            *released_places(released, spec, written),
            *file_places(project, release, file, written, bytes_of_tokens(released, spec)),
        ]
        tables = warehouse_columns(warehouse, spec, database, written)
        places = [*ours, *tables.places]
        tallies = [Tally() for _ in places]
        searched = _Searched()
        with identifier_values(warehouse, spec) as parts:
            for values in parts:
                searched.add(values)
                for place, tally in zip(places, tallies, strict=True):
                    hits = Hits(values)
                    place.search(values, hits)
                    tally.add(values, hits)
    findings = [
        _finding(place, tally, searched)
        for number, (place, tally) in enumerate(zip(places, tallies, strict=True))
        # Of the many columns of a warehouse only those where something is found, and nowhere that
        # nothing was found of nothing.
        if (number < len(ours) and searched.identifiers) or not tally.is_clean
    ]
    return [*findings, *_of_the_whole(spec, searched, tables, tallies[len(ours) :])]


def _database(warehouse: Warehouse) -> tuple[str, Path | None]:
    """Return the name and the file of the warehouse; no file for one in memory."""
    ((name, path),) = warehouse.rows(
        "select database_name, path from duckdb_databases() "
        "where database_name = current_database()"
    )
    return str(name), Path(path) if path else None


def _finding(place: Place, tally: Tally, searched: _Searched) -> Finding:
    left_out = f"; {tally.left_out:,} of them cannot be told from chance" if tally.left_out else ""
    if tally.is_clean:
        message = f"none of {searched.identifiers:,} values of identifiers occurs here{left_out}"
    else:
        message = f"values of identifiers occur here: {tally}{left_out}. {place.remedy}"
    return Finding("content", place.subject, tally.is_clean, message)


def _of_the_whole(
    spec: Spec, searched: _Searched, tables: WarehouseColumns, tallies: Sequence[Tally]
) -> Iterator[Finding]:
    """Say what was searched at all, so that nothing was not searched in silence."""
    if not searched.identifiers:
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
            message = "the spec declares none, so the record key alone was searched for."
            yield Finding("content", "identifiers", True, message)
    yield Finding(
        "content",
        f"record key {spec.record_key}",
        True,
        f"{searched.keys:,} values were searched for in the release one by one, and "
        f"{searched.short_keys:,} short numbers as columns of such numbers; {searched.left_out:,} "
        "are too short to be told from other words.",
    )
    if searched.identifiers and all(tally.is_clean for tally in tallies):
        left_out = sum(tally.left_out for tally in tallies)
        untold = f"; {left_out:,} times one cannot be told from chance" if left_out else ""
        yield Finding(
            "content",
            "warehouse",
            True,
            f"none of {searched.identifiers:,} values of identifiers occurs in "
            f"{len(tables.places)} columns of the warehouse{untold}; {tables.not_searched} columns "
            "of the record key, times, booleans and tokens were not searched",
        )
