"""Reading the released rows given to be re-linked: untrusted text of any size."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from dbt_anonymize.errors import AnonymizeError

# Longer than any row of a release; without a limit one line could fill the memory.
_LONGEST_LINE = 1 << 20
# More than one request needs; they are kept in memory.
_MOST_VALUES = 1_000_000


class RelinkingInputError(AnonymizeError, ValueError):
    """Rows to re-link cannot be read; the message holds no value of them."""


@dataclass(frozen=True)
class GivenRows:
    """Number of given rows, and the number for each value of the link.

    ``rows`` includes repeated rows and those without a value.
    """

    rows: int
    values: Mapping[str, int]


def read_given_rows(stream: BinaryIO, column: str) -> GivenRows:
    r"""Read one column (``cqi`` or ``token``) of at least one released row.

    The stream is UTF-8, with or without a byte order mark: CSV with a header, separated by commas,
    or JSON lines. Other columns are ignored; empty and null values are counted and lead nowhere.
    Anything else is a `RelinkingInputError`.

    Examples
    --------
    >>> read_given_rows(io.BytesIO(b"age,cqi\n30-39,a\n40-49,b\n30-39,a\n,\n"), "cqi")
    GivenRows(rows=4, values={'a': 2, 'b': 1})
    >>> read_given_rows(io.BytesIO(b'{"cqi": "a", "age": "30-39"}\n'), "cqi")
    GivenRows(rows=1, values={'a': 1})
    """
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    values: Counter[str] = Counter()
    rows = 0
    try:
        for value in _values(text, column):
            rows += 1
            if value:
                values[value] += 1
            if len(values) > _MOST_VALUES:
                raise _problem(f"must have at most {_MOST_VALUES:,} different {column}", "Split it")
    except UnicodeDecodeError:
        # Without its cause, which quotes bytes.
        raise _problem("must be UTF-8 text; they are not", "Save them as UTF-8") from None
    finally:
        text.detach()
    if rows == 0:
        raise _problem("must be at least one row; got none", "Give a header and rows")
    return GivenRows(rows, dict(values))


def _values(text: io.TextIOWrapper, column: str) -> Iterator[str]:
    lines = _lines(text)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    everything = itertools.chain([first], lines)
    parse = _json_values if first.lstrip().startswith("{") else _csv_values
    for number, value in parse(everything, column):
        # No release holds them, and some drivers fail on them with the value in the message.
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise _problem("must be text", "Give the rows as they were released", number)
        yield value


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    number = 0
    while line := text.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            limit = f"must have lines of at most {_LONGEST_LINE:,} characters"
            raise _problem(limit, "Give released rows", number)
        yield line


def _csv_values(lines: Iterator[str], column: str) -> Iterator[tuple[int, str]]:
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader)
        if header.count(column) != 1:
            raise _problem(
                f"must have exactly one column {column}; the header has {header.count(column)}",
                "Give CSV with a header, separated by commas, or JSON lines",
            )
        place = header.index(column)
        for row in reader:
            if not row:  # a blank line
                continue
            if len(row) != len(header):
                shape = f"must have as many fields as the header; {len(row)} are not {len(header)}"
                raise _problem(shape, "Give released rows unchanged", reader.line_num)
            yield reader.line_num, row[place]
    except csv.Error:
        raise _problem("must be valid CSV", "Check the quotes", reader.line_num) from None


def _json_values(lines: Iterator[str], column: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise _problem("must be one JSON object per line", "Give JSON lines, or CSV", number)
        if column not in row:
            raise _problem(f"must have {column}", "Give released rows unchanged", number)
        value = row[column]
        if not isinstance(value, str | None):
            raise _problem(f"must have a text as {column}", "Give released rows", number)
        yield number, value or ""


def _problem(rule: str, remedy: str, line: int | None = None) -> RelinkingInputError:
    place = "" if line is None else f", line {line}"
    return RelinkingInputError(f"the given rows{place}: {rule}. {remedy}.")
