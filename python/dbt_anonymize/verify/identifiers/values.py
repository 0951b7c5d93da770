"""The values that must not leave the vault, read in parts that fit in memory."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.literals import quote_text
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.identifiers.byte_search import BytePatterns
from dbt_anonymize.verify.identifiers.coincidence import Entries, Reading, as_short_number
from dbt_anonymize.verify.identifiers.text_variants import (
    LONG,
    LONG_NUMBER,
    Forms,
    is_long,
    is_only_day,
)
from dbt_anonymize.verify.relations import source_relation, text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Memory that a value needs with all its patterns, and the share of the memory of the machine that
# the values may have. Measured: 1,300 of a name in ASCII, 4,800 of one with an accent.
_BYTES_OF_A_VALUE = 5_000
_SHARE_OF_MEMORY = 0.25
_FEWEST_AT_ONCE = 250_000
_HEXADECIMAL = frozenset(b"0123456789abcdefABCDEF-")


@dataclass(frozen=True)
class IdentifierValues:
    """Distinct values of the identifiers and of the record key, some of them.

    Parameters
    ----------
    columns : sequence of str
        The identifiers, then the record key.
    texts : sequence of str
        The values as text, without white space around them; never empty.
    column_of : int array
        Position in ``columns`` by value.
    is_key : bool array
        Whether it is a record key, which only the release must not have.
    is_common : bool array
        Whether as many records have the value as a class must have people.
    is_short_key : bool array
        Whether it is a record key that says nothing alone, a number of few digits: see `chance`.
    share_of : mapping
        By position in ``columns``: how much of the identifier these values are.
    left_out : int
        Record keys that are left out: a short text is found anywhere.
    """

    columns: Sequence[str]
    texts: Sequence[str]
    column_of: NDArray[Any]
    is_key: NDArray[Any]
    is_common: NDArray[Any]
    is_short_key: NDArray[Any]
    share_of: Mapping[int, float]
    left_out: int = 0

    # Many columns are searched for the same patterns, and numbers.
    _built: dict[Forms, Patterns] = field(default_factory=dict, compare=False, repr=False)
    _read: dict[Reading, list[Entries]] = field(default_factory=dict, compare=False, repr=False)

    def patterns(self, forms: Forms) -> Patterns:
        """Return what to search for in data of one kind."""
        if forms not in self._built:
            self._built[forms] = self._patterns(forms)
        return self._built[forms]

    def entries(self, reading: Reading, *, keys: bool) -> list[Entries]:
        """Return what is searched for as numbers or days; the record key only if asked for."""
        if reading not in self._read:
            self._read[reading] = list(self._entries(reading))
        return [found for found in self._read[reading] if keys or not self.is_key[found.owners[0]]]

    def _entries(self, reading: Reading) -> Iterator[Entries]:
        read = [
            (number, value)
            for value, text in enumerate(self.texts)
            if (number := reading(text)) is not None
        ]
        numbers, owners = np.array(read, dtype=np.int64).reshape(-1, 2).T
        columns = self.column_of[owners]
        for column in np.unique(columns).tolist():
            here = columns == column
            distinct, places = np.unique(numbers[here], return_inverse=True)
            yield Entries(distinct, owners[here], places, self.share_of[column])

    def _patterns(self, forms: Forms) -> Patterns:
        keys = self.is_key.tolist()
        is_short_key = self.is_short_key.tolist()
        given = dict.fromkeys(
            # The search folds letters of ASCII: what differs in their case alone is the same.
            (form.encode("utf-8", "surrogatepass").lower(), is_word, value)
            for value, text in enumerate(self.texts)
            # Neither a date nor a short number says anything alone.
            if not (is_short_key[value] or is_only_day(text))
            for form, is_word in forms(text)
            # The few digits in a record key, `A-000123`, name nobody.
            if form and not (keys[value] and form.isdigit() and len(form) < LONG_NUMBER)
        )
        patterns = [pattern for pattern, _, _ in given]
        number = len(patterns)
        return Patterns(
            BytePatterns(patterns, [is_word for _, is_word, _ in given]),
            np.fromiter((value for _, _, value in given), dtype=np.int64, count=number),
            len(self.texts),
            _flags(map(len, patterns), number).astype(np.int64),
            _flags((pattern.isdigit() for pattern in patterns), number).astype(bool),
            _flags(map(_HEXADECIMAL.issuperset, patterns), number).astype(bool),
            _flags((_is_long(pattern) for pattern in patterns), number).astype(bool),
        )


def _is_long(pattern: bytes) -> bool:
    if pattern.isascii():
        return len(pattern) >= LONG
    return is_long(pattern.decode("utf-8", "surrogatepass"))


def _flags(values: Iterable[int], number: int) -> NDArray[Any]:
    return np.fromiter(values, dtype=np.int32, count=number)


@dataclass(frozen=True)
class Patterns:
    """Byte patterns, and to which value each belongs.

    Parameters
    ----------
    search : BytePatterns
    owners : int array
        Value by pattern.
    values : int
        Number of values.
    lengths : int array
        Bytes by pattern.
    is_digits, is_hexadecimal, is_long : bool arrays
        What a pattern consists of; whether it is no part of other texts by chance.
    """

    search: BytePatterns
    owners: NDArray[Any]
    values: int
    lengths: NDArray[Any]
    is_digits: NDArray[Any]
    is_hexadecimal: NDArray[Any]
    is_long: NDArray[Any]

    def values_of(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return for each value whether one of its patterns was found."""
        values = np.zeros(self.values, dtype=bool)
        values[self.owners[found]] = True
        return values


@contextlib.contextmanager
def identifier_values(warehouse: Warehouse, spec: Spec) -> Iterator[Iterator[IdentifierValues]]:
    """Read the values of all identifiers and the record keys, once, in parts that fit in memory.

    They are those of the vault or, where there is no mapping, of the source.

    Parameters
    ----------
    warehouse : Warehouse
        With the vault; DuckDB.
    spec : Spec
        The anonymization.

    Yields
    ------
    iterator of IdentifierValues
        NULL and texts without a visible character are left out.

    Raises
    ------
    WarehouseError
        If the vault or the source does not exist.
    """
    if spec.mapping == "none":
        relation = source_relation(warehouse, spec.source)
    else:
        relation = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    columns = list(dict.fromkeys([*spec.identifiers, spec.record_key]))
    queries = []
    for place, name in enumerate(columns):
        text = text_of(warehouse, name)
        queries.append(
            f"select {place} as identifier, {text} as found, count(*) as records, "  # noqa: S608
            f"count(*) over () as number from {relation} where {text} is not null group by {text}"
        )
    # Other queries run while this one is read.
    with contextlib.closing(warehouse.cursor().cursor()) as cursor:
        cursor.execute(" union all ".join(queries))
        yield _parts(cursor, columns, spec)


def _parts(cursor: Any, columns: Sequence[str], spec: Spec) -> Iterator[IdentifierValues]:
    while rows := cursor.fetchmany(values_at_once()):
        yield _values(columns, rows, spec)


def values_at_once() -> int:
    """Return how many values are searched for together."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(_FEWEST_AT_ONCE, int(memory * _SHARE_OF_MEMORY / _BYTES_OF_A_VALUE))


def _values(
    columns: Sequence[str], rows: Sequence[tuple[Any, ...]], spec: Spec
) -> IdentifierValues:
    key = columns.index(spec.record_key) if spec.record_key not in spec.identifiers else None
    total = {place: number for place, _, _, number in rows}
    found = [(place, text, n) for place, value, n, _ in rows if (text := str(value).strip())]
    kept = [row for row in found if row[0] != key or _is_searched_for(row[1])]
    least = spec.least_people  # which takes a while
    column_of = np.array([place for place, _, _ in kept], dtype=np.int64)
    is_key = np.zeros(len(kept), dtype=bool) if key is None else column_of == key
    short = [place == key and not _names_a_record(text) for place, text, _ in kept]
    counts = Counter(place for place, _, _, _ in rows)
    return IdentifierValues(
        columns=columns,
        texts=[text for _, text, _ in kept],
        column_of=column_of,
        is_key=is_key,
        is_common=np.array([records >= least for _, _, records in kept], dtype=bool),
        is_short_key=np.array(short, dtype=bool),
        share_of={place: counts[place] / total[place] for place in counts},
        left_out=len(found) - len(kept),
    )


def _is_searched_for(key: str) -> bool:
    return _names_a_record(key) or as_short_number(key) is not None


def _names_a_record(key: str) -> bool:
    return is_long(key) and (not key.isdigit() or len(key) >= LONG_NUMBER)


def spill_in_private(warehouse: Warehouse) -> None:
    """Have what does not fit into memory spilled where nobody else reads, not beside the warehouse.

    A vault that is attached has seen to it; a folder that the profile names is left alone. Until
    the process ends, since DuckDB does not change the folder after it was used.

    Parameters
    ----------
    warehouse : Warehouse
        DuckDB.
    """
    ((current, file),) = warehouse.rows(
        "select current_setting('temp_directory'), path from duckdb_databases() "
        "where database_name = current_database()"
    )
    if current not in {f"{file}.tmp", ".tmp"}:
        return
    folder = tempfile.mkdtemp(prefix="dbt_anonymize_")  # mode 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warehouse.cursor().execute(f"set global temp_directory = {quote_text(folder)}")
