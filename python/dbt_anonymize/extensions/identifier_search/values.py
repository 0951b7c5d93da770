"""The values that must not leave the vault, read in parts that fit in memory."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.extensions.identifier_search.byte_search import BytePatterns
from dbt_anonymize.extensions.identifier_search.coincidence import controls
from dbt_anonymize.extensions.identifier_search.text_variants import (
    LONG,
    Variant,
    has_parts,
    is_number,
    is_searched,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.relations import text_of

Variants = Callable[[str], Iterator[Variant]]

# Bytes that a value needs with all its patterns (measured: 1,300 for a name in ASCII, 4,800 for one
# with an accent), and the share of the machine's memory that values may use.
_BYTES_OF_A_VALUE = 5_000
_SHARE_OF_MEMORY = 0.25
_FEWEST_AT_ONCE = 250_000
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", re.IGNORECASE)


class Patterns:
    """Byte patterns of values, in all variants."""

    def __init__(self, texts: Sequence[str], variants: Variants) -> None:
        patterns = dict.fromkeys(
            # The search ignores the case of ASCII letters.
            (variant.encode("utf-8", "surrogatepass").lower(), run, value)
            for value, text in enumerate(texts)
            for variant, run in variants(text)
        )
        self.search = BytePatterns(
            [text for text, _, _ in patterns], [run for _, run, _ in patterns]
        )
        self._owners = np.fromiter((value for _, _, value in patterns), np.int64, len(patterns))
        self.values = len(texts)
        # Mask of the values that are searched for in data of this kind.
        self.searched = np.bincount(self._owners, minlength=self.values) > 0

    def by_value(self, occurrences: NDArray[Any]) -> NDArray[Any]:
        """Return the strongest occurrence of each value over its patterns."""
        values = np.zeros(self.values, dtype=np.int8)
        np.maximum.at(values, self._owners, occurrences)
        return values


@dataclass(frozen=True)
class IdentifierValues:
    """Distinct values of the identifiers and of the record key, some of them.

    ``columns`` are the identifiers, then the record key; ``texts`` the values without white space
    around them, never empty. By value: ``column_of`` (position in ``columns``), ``is_key`` (a
    record key), ``is_common`` (as many records have it as a class must have), ``is_number`` (others
    may equal it by coincidence) and ``has_parts`` (several words). ``left_out`` counts those that
    `is_searched` leaves out, by column.
    """

    columns: Sequence[str]
    texts: Sequence[str]
    column_of: NDArray[Any]
    is_key: NDArray[Any]
    is_common: NDArray[Any]
    is_number: NDArray[Any]
    has_parts: NDArray[Any]
    left_out: Counter[str]

    # Many columns share the same patterns.
    _built: dict[tuple[Variants, int | None], Patterns] = field(
        default_factory=dict, compare=False, repr=False
    )

    def patterns(self, variants: Variants) -> Patterns:
        """Return the patterns for data of one kind."""
        return self._patterns(variants, None, lambda: self.texts)

    def controls(self, variants: Variants, column: int) -> Patterns:
        """Return numbers beside those of a column that nobody has: see `coincidence`."""
        numbers = compress(self.texts, self.is_number & (self.column_of == column))
        return self._patterns(variants, column, lambda: controls(list(numbers)))

    def _patterns(
        self, variants: Variants, column: int | None, texts: Callable[[], Sequence[str]]
    ) -> Patterns:
        """Return patterns, cached since they are slow to make and used for many places."""
        if (variants, column) not in self._built:
            self._built[variants, column] = Patterns(texts(), variants)
        return self._built[variants, column]


@contextlib.contextmanager
def identifier_values(warehouse: Warehouse, spec: Spec) -> Iterator[Iterator[IdentifierValues]]:
    """Read the values of all identifiers and the record keys, once, in parts that fit in memory.

    From the vault or, where there is no mapping, the source; if that is missing, it is a
    `WarehouseError`. NULL and texts without a visible character are left out.
    """
    if spec.mapping == "none":
        relation = warehouse.relation_of(spec.source)
    else:
        relation = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    columns = list(dict.fromkeys([*spec.identifiers, spec.record_key]))
    described = warehouse.rows(f"describe select * from {relation}")  # noqa: S608
    types = {str(name).lower(): str(data_type) for name, data_type, *_ in described}
    queries = [
        query
        for place, name in enumerate(columns)
        for query in _queries(place, name, types.get(name.lower(), ""), str(relation))
    ]
    # Other queries run while this one is read.
    with contextlib.closing(warehouse.cursor().cursor()) as cursor:
        # In order, so that the numbers beside those of a part are nobody's: see `coincidence`.
        cursor.execute(f"{' union all '.join(queries)} order by identifier, found")
        yield _parts(cursor, columns, spec)


def _queries(place: int, name: str, data_type: str, relation: str) -> Iterator[str]:
    """Yield SQL of the values of a column; short whole numbers are only counted."""
    text = text_of(name)
    condition = f"{text} is not null"
    if _WHOLE.fullmatch(data_type):
        number, least = quote_name(name), 10 ** (LONG - 1)
        is_short = f"{number} > -{least} and {number} < {least}"
        condition = f"not ({is_short})"
        yield (
            f"select {place} as identifier, null as found, "  # noqa: S608
            f"count(distinct {number}) as records from {relation} where {is_short}"
        )
    yield (
        f"select {place} as identifier, {text} as found, count(*) as records "  # noqa: S608
        f"from {relation} where {condition} group by {text}"
    )


def _parts(cursor: Any, columns: Sequence[str], spec: Spec) -> Iterator[IdentifierValues]:
    least = spec.largest_k  # which takes a while
    key = -1 if spec.record_key in spec.identifiers else len(columns) - 1
    while rows := cursor.fetchmany(values_at_once()):
        left_out = Counter({columns[place]: n for place, value, n in rows if value is None and n})
        values = [
            (place, text, n)
            for place, value, n in rows
            if value is not None and (text := str(value).strip())
        ]
        searched = [row for row in values if is_searched(row[1])]
        left_out += Counter(columns[place] for place, _, _ in values)
        left_out -= Counter(columns[place] for place, _, _ in searched)
        texts = [text for _, text, _ in searched]
        column_of = np.array([place for place, _, _ in searched], dtype=np.int64)
        yield IdentifierValues(
            columns=columns,
            texts=texts,
            column_of=column_of,
            is_key=column_of == key,
            is_common=np.array([records >= least for _, _, records in searched], dtype=bool),
            is_number=np.array([*map(is_number, texts)], dtype=bool),
            has_parts=np.array([*map(has_parts, texts)], dtype=bool),
            left_out=left_out,
        )


def values_at_once() -> int:
    """Return the number of values to search for together."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(_FEWEST_AT_ONCE, int(memory * _SHARE_OF_MEMORY / _BYTES_OF_A_VALUE))
