"""Import and export of hierarchy files of the ARX Data Anonymization Tool."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.bounds import Bound, parse_bound, parse_value
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import read_rows
from dbt_anonymize.pluralize import pluralized

ARX_NULL = "NULL"


def read_arx(path: Path, *, delimiter: str = ";", nested: bool = True) -> CategoricalHierarchy:
    """Read an ARX hierarchy file: column 0 is the value, column i its label at level i, no header.

    Rows of ``NULL`` and ``*`` (missing and suppressed cells in ARX) are left out: here NULL
    generalizes to ``*`` by itself. Levels above the first that is wholly ``*`` are cut off, as ARX
    does, and a root is added if there is none. ``nested``: a label must have one parent. A file
    that cannot be read, has rows of different lengths or breaks rules is a `HierarchyError`.
    """
    rows = read_rows(path, delimiter=delimiter)
    width = len(rows[0].cells) if rows else 0
    ragged = [row.line for row in rows if len(row.cells) != width]
    if ragged or not rows:
        raise HierarchyError(
            f"{path} must have rows of equally many cells; {len(ragged)} of {len(rows)} differ "
            f"from the first one, lines {ragged[:8]}. "
            "Correct the file or the delimiter."
        )
    if width == 1 and (other := _other_delimiter([row.cells[0] for row in rows], delimiter)):
        raise HierarchyError(
            f"{path} must have a value and its labels in each row; all {len(rows)} have one cell "
            f"only, with a {other!r} in it, read with the delimiter {delimiter!r}. Write "
            f"--delimiter {other!r}."
        )
    cells_of_rows = [row.cells for row in rows if row.cells[0] not in (ARX_NULL, ROOT)]
    if not cells_of_rows:
        raise HierarchyError(f"{path} must hold values; it holds none. Export the hierarchy again.")
    values, *levels = zip(*cells_of_rows, strict=True)
    hierarchy = CategoricalHierarchy(values, _up_to_root(levels, len(values)))
    return check(hierarchy, name=str(path), nested=nested)


def _other_delimiter(cells: Sequence[str], delimiter: str) -> str | None:
    """Return the delimiter that all cells of a misread file contain, if any."""
    candidates = (candidate for candidate in ",;\t|" if candidate != delimiter)
    return next(
        (candidate for candidate in candidates if all(candidate in cell for cell in cells)), None
    )


def arx_text(
    hierarchy: CategoricalHierarchy | IntervalHierarchy,
    values: Sequence[str] = (),
    *,
    delimiter: str = ";",
) -> str:
    r"""Return a hierarchy as ARX reads it: a row per value and one for ``NULL``, no header.

    The values of intervals are ``values``, which are numbers, ISO dates or moments (a moment
    is in the interval of its day) as the data show them;
    one that no interval holds, or that ARX would take for a missing one, is a `HierarchyError`.

    Examples
    --------
    >>> print(arx_text(CategoricalHierarchy(("a;b", "c"), (("x", "y"), ("*", "*")))))
    "a;b";x;*
    c;y;*
    NULL;*;*
    <BLANKLINE>
    """
    if isinstance(hierarchy, CategoricalHierarchy):
        leaves = {value: place for place, value in enumerate(hierarchy.values)}
    else:
        bounds = {value: parse_value(value) for value in dict.fromkeys(values)}
        places = {value: None if b is None else _leaf(hierarchy, b) for value, b in bounds.items()}
        if missing := sum(place is None for place in places.values()):
            raise HierarchyError(
                f"every value must be in an interval; {missing} of {len(places)} are in none. "
                "Extend the hierarchy, or correct the values."
            )
        leaves = {value: place for value, place in places.items() if place is not None}
    if not leaves or ARX_NULL in leaves:
        raise HierarchyError(
            f"there must be values, none of them {ARX_NULL}, which ARX takes for a missing one. "
            "Name the values of intervals with --from, --ref or --source, and --column."
        )
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    for value, place in leaves.items():
        writer.writerow([value, *(level[place] for level in hierarchy.labels)])
    writer.writerow([ARX_NULL, *(ROOT for _ in hierarchy.labels)])
    return file.getvalue()


def _leaf(hierarchy: IntervalHierarchy, bound: Bound) -> int | None:
    if type(bound) is not type(hierarchy.lower_bounds[0]):
        return None
    return hierarchy.leaf(bound)


def to_interval_hierarchy(
    hierarchy: CategoricalHierarchy, *, nested: bool = True
) -> IntervalHierarchy:
    """Turn a hierarchy over numbers or ISO dates into one over intervals.

    Each label of level 1 becomes one leaf, from its smallest value to the smallest of the next
    label; the last ends one step (the smallest distance of two values) after the largest value.
    Other values, and labels whose values are not neighbours, are a `HierarchyError`.

    Examples
    --------
    >>> pairs = ("0-1", "0-1", "2-3", "2-3")
    >>> converted = to_interval_hierarchy(CategoricalHierarchy(tuple("0123"), (pairs, ("*",) * 4)))
    >>> [int(bound) for bound in converted.upper_bounds], converted.labels
    ([2, 4], (('0-1', '2-3'), ('*', '*')))
    """
    bounds = [parse_bound(value) for value in hierarchy.values]
    parsed = [bound for bound in bounds if bound is not None]
    if len(parsed) < len(bounds) or len({type(bound) for bound in parsed}) != 1:
        raise HierarchyError(
            f"values must be all numbers or all dates to become intervals; "
            f"{len(bounds) - len(parsed)} of {len(bounds)} are neither, or kinds are mixed. "
            "Import it as a categorical hierarchy."
        )
    order = sorted(range(len(parsed)), key=parsed.__getitem__)
    ordered = [parsed[row] for row in order]
    columns = [[level[row] for row in order] for level in hierarchy.labels]
    starts = [
        row for row in range(len(order)) if row == 0 or columns[0][row] != columns[0][row - 1]
    ]
    _refuse_cut_leaves(columns, starts)
    lower = tuple(ordered[row] for row in starts)
    upper = (*lower[1:], _after(ordered))
    labels = tuple(tuple(level[row] for row in starts) for level in columns)
    return check(IntervalHierarchy(lower, upper, labels), name="of intervals", nested=nested)


def _up_to_root(levels: Sequence[tuple[str, ...]], rows: int) -> tuple[tuple[str, ...], ...]:
    root = (ROOT,) * rows
    below = list(levels)
    return (*(below[: below.index(root)] if root in below else below), root)


def _after(ordered: Sequence[Bound]) -> Bound:
    """Return the end of the last leaf: one step after the last value."""
    last = ordered[-1]
    if isinstance(last, Decimal):
        return last + min(_steps([Decimal(str(bound)) for bound in ordered]), default=Decimal(1))
    days = [Decimal(bound.toordinal()) for bound in ordered if isinstance(bound, date)]
    return last + timedelta(days=int(min(_steps(days), default=Decimal(1))))


def _steps(ordered: Sequence[Decimal]) -> list[Decimal]:
    return [after - before for before, after in pairwise(ordered) if after != before]


def _refuse_cut_leaves(columns: Sequence[Sequence[str]], starts: Sequence[int]) -> None:
    """Refuse values that share a label of level 1 and differ higher up (never if nested)."""
    begins = set(starts)
    cut = sum(
        1
        for row in range(len(columns[0]))
        if row not in begins and any(level[row] != level[row - 1] for level in columns[1:])
    )
    if cut:
        raise HierarchyError(
            f"labels of level 1 must not be cut by higher levels; got "
            f"{pluralized(cut, 'value')} where they are. "
            "Put a finer level below."
        )
