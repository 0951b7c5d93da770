"""The values that must not leave the vault, and the forms in which they could have left it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.spec import Spec
from dbt_anonymize.verification.byte_search import BytePatterns
from dbt_anonymize.verification.relations import is_duckdb, source_relation, text_of
from dbt_anonymize.warehouse import Warehouse

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Fewer characters make a word that is found everywhere, as part of others.
LONG = 6
# A number that contains so many digits of an identifier does not do so by chance.
LONG_NUMBER = 9
# Values that are searched for together.
_AT_ONCE = 1_000_000
_NO_DIGIT = re.compile(r"[^0-9]+")

Forms = Callable[[str], Iterator[tuple[str, bool]]]


@dataclass(frozen=True)
class IdentifierValues:
    """Distinct values of the identifiers, at most some million of them.

    Parameters
    ----------
    columns : sequence of str
        The identifiers.
    texts : sequence of str
        The values as text, without white space around them; never empty.
    column_of : int array
        Position in ``columns`` by value.
    is_common : bool array
        Whether as many records have the value as a class must have people.
    """

    columns: Sequence[str]
    texts: Sequence[str]
    column_of: NDArray[Any]
    is_common: NDArray[Any]

    # Many columns are searched for the same patterns.
    _built: dict[Forms, Patterns] = field(default_factory=dict, compare=False, repr=False)

    def patterns(self, forms: Forms) -> Patterns:
        """Return what to search for in data of one kind."""
        if forms not in self._built:
            self._built[forms] = self._patterns(forms)
        return self._built[forms]

    def _patterns(self, forms: Forms) -> Patterns:
        patterns = dict.fromkeys(
            (form.encode("utf-8", "surrogatepass"), is_word, value)
            for value, text in enumerate(self.texts)
            for form, is_word in forms(text)
        )
        return Patterns(
            [pattern for pattern, _, _ in patterns],
            [is_word for _, is_word, _ in patterns],
            np.fromiter((value for _, _, value in patterns), dtype=np.int64, count=len(patterns)),
            len(self.texts),
        )


@dataclass(frozen=True)
class Patterns:
    """Byte patterns, and to which value each belongs.

    Parameters
    ----------
    patterns : sequence of bytes
    is_word : sequence of bool
        Whether a pattern counts as a whole word only.
    owners : int array
        Value by pattern.
    values : int
        Number of values.
    """

    patterns: Sequence[bytes]
    is_word: Sequence[bool]
    owners: NDArray[Any]
    values: int

    @cached_property
    def search(self) -> BytePatterns:
        """The patterns, ready to be searched for."""
        return BytePatterns(self.patterns, self.is_word)

    def that_are(self, chosen: NDArray[Any]) -> Patterns:
        """Return the chosen ones of the patterns."""
        places = np.flatnonzero(chosen).tolist()
        return Patterns(
            [self.patterns[place] for place in places],
            [self.is_word[place] for place in places],
            self.owners[places],
            self.values,
        )

    def values_of(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return for each value whether one of its patterns was found."""
        values = np.zeros(self.values, dtype=bool)
        values[self.owners[found]] = True
        return values

    def values_in(self, pieces: Iterator[bytes]) -> NDArray[Any]:
        """Return for each value whether it occurs in one of several pieces of data."""
        found = np.zeros(len(self.patterns), dtype=bool)
        for piece in pieces if self.patterns else ():
            found |= self.search.occur_in(piece)
        return self.values_of(found)


def digits(text: str) -> str:
    """Return the digits of a text alone; nothing where they are too few to name a person.

    Examples
    --------
    >>> digits("0113 496-0371"), digits("Flat 9")
    ('01134960371', '')
    """
    found = _NO_DIGIT.sub("", text)
    return found if len(found) >= LONG else ""


def folded(text: str) -> str:
    """Return a text as it is compared: composed characters, without regard to case."""
    return unicodedata.normalize("NFC", text).casefold()


def forms_in_cells(text: str) -> Iterator[tuple[str, bool]]:
    """Give the forms of a value in cells of text; a short one counts as a whole word only."""
    yield folded(text), len(text) < LONG
    if digits(text):
        yield digits(text), False


def forms_as_cells(text: str) -> Iterator[tuple[str, bool]]:
    """Give the same forms where random text may contain them: as whole words only."""
    for form, _ in forms_in_cells(text):
        yield form, True


def forms_as_digits(text: str) -> Iterator[tuple[str, bool]]:
    """Give the digits of a value, to be all digits of a cell."""
    if digits(text):
        yield digits(text), True


def forms_as_number(text: str) -> Iterator[tuple[str, bool]]:
    """Give the digits of a value as a number has them, without leading zeros."""
    number = digits(text).lstrip("0")
    if len(number) >= LONG:
        yield number, len(number) < LONG_NUMBER


def forms_in_tables(text: str) -> Iterator[tuple[str, bool]]:
    """Give the forms of a long value in the text of any table."""
    if len(text) >= LONG:
        yield folded(text), False
    if digits(text):
        yield digits(text), False


def forms_in_bytes(text: str) -> Iterator[tuple[str, bool]]:
    """Give the forms of a long value in a file: ASCII letters are folded there, others are not."""
    if len(text) >= LONG:
        for letters in (text, text.lower(), text.upper(), text.title()):
            yield unicodedata.normalize("NFC", letters), False
            yield unicodedata.normalize("NFD", letters), False
    if digits(text):
        yield digits(text), False


def read_identifier_values(warehouse: Warehouse, spec: Spec) -> Iterator[IdentifierValues]:
    """Yield the values of all identifiers, in parts that fit in memory.

    They are those of the vault or, where there is no mapping, of the source. The record key is not
    among them: the working tables have it.

    Parameters
    ----------
    warehouse : Warehouse
        With the vault.
    spec : Spec
        The anonymization.

    Yields
    ------
    IdentifierValues
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
    queries = []
    for place, name in enumerate(spec.identifiers):
        text = text_of(warehouse, name)
        queries.append(
            f"select {place} as identifier, {text} as found, count(*) as records "  # noqa: S608
            f"from {relation} where {text} is not null group by {text}"
        )
    if not queries:
        return
    every = " union all ".join(queries)
    counted = f"select count(*) from ({every}) as found_values"  # noqa: S608
    parts = -(-int(warehouse.rows(counted)[0][0]) // _AT_ONCE) if is_duckdb(warehouse) else 1
    for part in range(parts):
        is_in_part = f"where hash(found) % {parts} = {part}" if parts > 1 else ""
        rows = warehouse.rows(
            f"select identifier, found, records from ({every}) as found_values {is_in_part}"  # noqa: S608
        )
        yield _values(spec.identifiers, rows, spec.guarantees.k_anonymity.k)


def _values(columns: Sequence[str], rows: Sequence[tuple[Any, ...]], k: int) -> IdentifierValues:
    kept = [(place, text, n) for place, found, n in rows if (text := str(found).strip())]
    return IdentifierValues(
        columns=columns,
        texts=[text for _, text, _ in kept],
        column_of=np.array([place for place, _, _ in kept], dtype=np.int64),
        is_common=np.array([records >= k for _, _, records in kept], dtype=bool),
    )
