r"""Search for identifiers of the vault in places that others read: release and warehouse.

Cells are searched for whole words in any case, with other spaces and punctuation beyond ASCII, also
in JSON, and for numbers of eight or more digits in any grouping.

The bytes of both files, deleted rows and logs included, are searched for values of eight or more
bytes as they are written. A database stores values side by side: a value counts where it stands
alone or beside another. One of several words (a full name, a mail address) counts inside a longer
run as well, unless cells have it there too: ``Ann Lind`` in ``Joann Lindner``.

Numbers count if there are more than by coincidence: see `coincidence`. The record key is searched
for in the release only, since the working tables have it.

Not searched for are dates, numbers of fewer than eight digits and codes of fewer than six
characters: kept columns are compared with them record by record, see `row_by_row`. Not found are
values that were changed (encoded, abbreviated) otherwise than there, stand inside a longer word or
number of a cell, or were compressed by DuckDB and then dropped. An identifier that is an ordinary
word (a town, a first name like *May*) may be there for another reason: the finding says how many of
the values many records share.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.extensions.identifier_search.byte_search import Occurs
from dbt_anonymize.extensions.identifier_search.coincidence import is_beyond
from dbt_anonymize.extensions.identifier_search.open_seeds import open_seeds
from dbt_anonymize.extensions.identifier_search.places import (
    Place,
    database_of,
    file_places,
    released_places,
    warehouse_places,
)
from dbt_anonymize.extensions.identifier_search.row_by_row import compare_rows
from dbt_anonymize.extensions.identifier_search.served import served_places, served_release_places
from dbt_anonymize.extensions.identifier_search.values import IdentifierValues, identifier_values
from dbt_anonymize.project.engines import server_of
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.checked import Checked
from dbt_anonymize.verify.duckdb_mirror import CopiedWarehouse
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import open_release


@dataclass
class _Tally:
    """Counts of the distinct values found in one place, by column."""

    matches: Counter[str] = field(default_factory=Counter)
    common: Counter[str] = field(default_factory=Counter)
    searched: Counter[str] = field(default_factory=Counter)
    # Matches that are in no cell any more; equal numbers that are no matches, but coincidence.
    leftover: int = 0
    coincidental: int = 0

    def add(
        self, values: IdentifierValues, is_found: NDArray[Any], is_searched: NDArray[Any]
    ) -> None:
        for place, name in enumerate(values.columns):
            here = is_found & (values.column_of == place)
            self.matches[name] += int(here.sum())
            self.common[name] += int((here & values.is_common).sum())
            self.searched[name] += int((is_searched & (values.column_of == place)).sum())

    @property
    def is_clean(self) -> bool:
        return not any(self.matches.values())

    def __str__(self) -> str:
        listed = []
        for name, number in self.matches.items():
            common = f" ({self.common[name]:,} of many people)" if self.common[name] else ""
            listed += [f"{number:,} of {name}{common}"] if number else []
        return ", ".join(listed)


@dataclass
class _Searched:
    """Numbers of searched values, and of those left out by column."""

    identifiers: int = 0
    keys: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, values: IdentifierValues) -> None:
        keys = int(values.is_key.sum())
        self.identifiers += len(values.texts) - keys
        self.keys += keys
        self.left_out += values.left_out


def check_content(checked: Checked) -> list[Finding]:
    """Search release, warehouse and seeds that are open for the values of all identifiers.

    The record key is searched for in the release. There is a finding for each
    released column, each file, and each column of the warehouse where something is found (else one
    for all): counts of distinct values, never a value. A release that cannot be read is a
    `VerificationError`, vault or source a `WarehouseError`.
    """
    warehouse, spec, release = checked.read, checked.spec, checked.release
    searched = _Searched()
    with contextlib.ExitStack() as until_searched:
        files: list[Place] = []
        if isinstance(warehouse, CopiedWarehouse):
            columns = list(served_release_places(warehouse, spec))
            tables = list(served_places(warehouse.original, spec))
        else:
            if release is None:
                raise TypeError("a release of DuckDB must be a file")
            released = until_searched.enter_context(open_release(spec, release))
            columns = list(released_places(released, spec))
            tables = list(warehouse_places(warehouse, spec))
            _, file = database_of(warehouse)
            files = list(file_places(checked.project, release, file))
        # The cells first: they explain bytes.
        cells = [*columns, *tables]
        tallies = [_Tally() for _ in (*cells, *files)]
        with identifier_values(warehouse, spec) as parts:
            for values in parts:
                searched.add(values)
                _search(values, cells, files, tallies)
    findings = [
        _finding(place, tally)
        for place, tally in zip((*cells, *files), tallies, strict=True)
        # Columns of the warehouse only with matches; other places only if values were searched.
        if (any(tally.searched.values()) and place not in tables) or not tally.is_clean
    ]
    of_tables = tallies[len(columns) : len(cells)]
    findings += _coverage(spec, searched, of_tables)
    findings += compare_rows(warehouse, spec)
    return [*findings, *_not_searched(warehouse), *_seed_findings(checked.project, spec)]


def _seed_findings(project: Project, spec: Spec) -> Iterator[Finding]:
    """Warn of seeds with identifiers that others or git can read."""
    for seed in open_seeds(project, [spec]):
        yield Finding("content", seed.file.as_posix(), None, f"{seed}", is_warning=True)


def _not_searched(warehouse: Warehouse) -> Iterator[Finding]:
    if isinstance(warehouse, CopiedWarehouse):
        yield Finding(
            "content",
            "files",
            None,
            f"not run: {server_of(warehouse.original).UNSEEN_FILES}",
            was_run=False,
        )


def _search(
    values: IdentifierValues,
    cells: Sequence[Place],
    files: Sequence[Place],
    tallies: Sequence[_Tally],
) -> None:
    """Search all places for some values."""
    in_cells = np.zeros(len(values.texts), dtype=bool)
    inside_words = np.zeros(len(values.texts), dtype=bool)
    for place, tally in zip(cells, tallies, strict=False):
        occurs, is_found = _matches(place, values, tally)
        in_cells |= is_found
        inside_words |= occurs == Occurs.INSIDE
        tally.add(values, is_found, _searched_values(place, values))
    for place, tally in zip(files, tallies[len(cells) :], strict=True):
        occurs, is_found = _matches(place, values, tally)
        is_glued = (occurs == Occurs.INSIDE) & values.has_parts & ~inside_words
        is_found |= is_glued & (place.has_keys | ~values.is_key)
        tally.leftover += int((is_found & ~in_cells).sum())
        tally.add(values, is_found, _searched_values(place, values))


def _searched_values(place: Place, values: IdentifierValues) -> NDArray[Any]:
    """Return a mask of the values that are searched for in a place."""
    in_data = values.patterns(place.variants).searched
    return np.asarray(in_data & (place.has_keys | ~values.is_key))


def _matches(
    place: Place, values: IdentifierValues, tally: _Tally
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the `Occurs` of each value, and a mask of the matches, coincidences excluded."""
    occurs = place.search(values.patterns(place.variants))
    is_found = (occurs == Occurs.ALONE) & (place.has_keys | ~values.is_key)
    for column in np.unique(values.column_of[is_found & values.is_number]):
        of_column = values.is_number & (values.column_of == column)
        controls = values.controls(place.variants, int(column))
        by_chance = int((place.search(controls) == Occurs.ALONE).sum())
        hits = int((is_found & of_column).sum())
        if not is_beyond(hits, int(of_column.sum()), by_chance, controls.values):
            tally.coincidental += hits
            is_found &= ~of_column
    return occurs, is_found


def _finding(place: Place, tally: _Tally) -> Finding:
    chance = (
        f"; {tally.coincidental:,} numbers are equal to some, no more than by coincidence"
        if tally.coincidental
        else ""
    )
    if tally.is_clean:
        message = f"none of {_values(tally.searched)} occurs here{chance}"
    else:
        leftover = (
            f" ({tally.leftover:,} of these in no cell: in rows that were replaced or dropped)"
            if tally.leftover
            else ""
        )
        message = f"values of identifiers occur here: {tally}{leftover}{chance}. {place.remedy}"
    return Finding("content", place.subject, tally.is_clean, message)


def _values(numbers: Counter[str]) -> str:
    """Return the number of values and their columns as text."""
    return f"{numbers.total():,} values of {', '.join(name for name, n in numbers.items() if n)}"


def _coverage(spec: Spec, searched: _Searched, tallies: Sequence[_Tally]) -> Iterator[Finding]:
    """Report what was searched for; skip nothing silently."""
    if not spec.identifiers:
        message = "the spec declares none to search for."
        yield Finding("content", "identifiers", True, message)
    elif not (searched.identifiers or any(searched.left_out[name] for name in spec.identifiers)):
        where = "the source" if spec.mapping == "none" else "the vault"
        yield Finding(
            "content",
            "identifiers",
            False,
            f"{where} must hold values of the identifiers; it holds none, so nothing was "
            "searched for. Build it again.",
        )
    left_out = ""
    if searched.left_out:
        left_out = (
            f"; {_values(searched.left_out)} were not: dates, numbers of fewer than 8 digits and "
            "codes of fewer than 6 characters are compared row by row"
        )
    yield Finding(
        "content",
        "coverage",
        True,
        f"{searched.identifiers:,} values of identifiers and {searched.keys:,} record keys were "
        f"searched for, the keys in the release only{left_out}",
    )
    if searched.identifiers and all(tally.is_clean for tally in tallies):
        coincidental = sum(tally.coincidental for tally in tallies)
        chance = f"; {coincidental:,} equal numbers are coincidence" if coincidental else ""
        yield Finding(
            "content",
            "warehouse",
            True,
            f"none of the {searched.identifiers:,} values of identifiers that are searched for "
            f"occurs in {len(tallies)} columns of the warehouse{chance}; columns of dates, times "
            "and booleans, and the record key of working tables, were not searched",
        )
