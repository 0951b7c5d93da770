"""Rows as a table, CSV or JSON lines, without terminal control characters."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, TextIO

from dbt_anonymize.literals import visible

Batches = Iterable[Sequence[tuple[Any, ...]]]


class Format(StrEnum):
    """Format of rows."""

    table = "table"
    csv = "csv"
    json = "json"


def escaped(value: object) -> str:
    r"""Return a value as visible text; controls and bidirectional marks are escaped, None is empty.

    Examples
    --------
    >>> print(escaped("Zoë \x1b[2J"), escaped("\u202ename"), escaped("a\nb"))
    Zoë \x1b[2J \u202ename a\x0ab
    """
    text = "" if value is None else str(value)
    return "".join(c if c.isprintable() else visible(c) for c in text)


def show(out: TextIO, columns: Sequence[str], batches: Batches, form: Format) -> None:
    r"""Write rows, a line each.

    ``table`` and ``json`` escape control characters. ``csv`` keeps values as they are, formulas of
    spreadsheets included, and escapes only where ``out`` is a terminal.

    Examples
    --------
    >>> import sys
    >>> people = [[(1, "Zoë"), (20, None)]]
    >>> show(sys.stdout, ["id", "name"], people, Format.table)
    id  name
    1   Zoë
    20
    >>> show(sys.stdout, ["id", "name"], people, Format.json)
    {"id": 1, "name": "Zo\u00eb"}
    {"id": 20, "name": null}
    """
    writers: dict[Format, Callable[[TextIO, Sequence[str], Batches], None]] = {
        Format.table: _show_table,
        Format.csv: _show_csv,
        Format.json: _show_json,
    }
    writers[form](out, columns, batches)
    out.flush()


def _show_table(out: TextIO, columns: Sequence[str], batches: Batches) -> None:
    from rich.cells import cell_len  # noqa: PLC0415 (keeps --help fast)

    rows = [[escaped(column) for column in columns]]
    rows += [[escaped(value) for value in row] for batch in batches for row in batch]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = "  ".join(text + " " * (width - cell_len(text)) for text, width in cells)
        out.write(line.rstrip() + "\n")


def _show_csv(out: TextIO, columns: Sequence[str], batches: Batches) -> None:
    writer = csv.writer(out, lineterminator="\n")
    is_terminal = out.isatty()
    writer.writerow(map(escaped, columns) if is_terminal else columns)
    for batch in batches:
        writer.writerows([map(escaped, row) for row in batch] if is_terminal else batch)


def _show_json(out: TextIO, columns: Sequence[str], batches: Batches) -> None:
    for batch in batches:
        for row in batch:
            cells = dict(zip(columns, map(_plain, row), strict=True))
            out.write(json.dumps(cells) + "\n")  # whatever is not ASCII is escaped


def _plain(value: Any) -> bool | int | float | str | None:
    """Return a value that JSON can hold; dates and decimals become text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)
