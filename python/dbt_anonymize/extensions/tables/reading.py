"""Reads a published table: one row per cell, totals included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbt_anonymize.arrays import Bools, Floats, Ints, np
from dbt_anonymize.extensions.tables.cube import Cube, Dimension
from dbt_anonymize.extensions.tables.errors import TableError, UnknownLabelError
from dbt_anonymize.extensions.tables.totals import unnamed_totals

# Cells that a table may have, totals included: matrices with a row for each fit into memory.
MOST_CELLS = 1_000_000

# Column of hidden tables.
STATUS = "status"

Row = Sequence[object]


@dataclass(frozen=True)
class Published:
    """A table as its readers see it.

    ``values`` has the count of each cell of the cube, NaN where it is hidden, or where no cell of
    the same dimensions is shown; ``is_hidden`` tells which cells the table hides, by NULL, and
    ``is_shown`` of which dimensions it shows cells. ``of_row`` is the cell of each row.
    """

    cube: Cube
    values: Floats
    is_hidden: Bools
    is_shown: Bools
    of_row: Ints

    def beside(self, counts: Sequence[object]) -> Published:
        """Return the table of other counts of the same rows."""
        return _published(self.cube, self.of_row, self.is_shown, counts)


def status_of(is_hidden: object) -> str:
    """Return what a hidden table says of a row."""
    return "hidden" if is_hidden else "published"


def cell_text(labels: Mapping[str, str | None]) -> str:
    """Return the labels of a cell by dimension joined, as ``<n>_table_cells`` has them.

    Examples
    --------
    >>> cell_text({"ward": "north", "age": None})
    '-|5:north'
    """
    ordered = (labels[name] for name in sorted(labels))
    return "|".join("-" if label is None else f"{len(label)}:{label}" for label in ordered)


def require_columns(there: Iterable[str], names: Sequence[str]) -> None:
    """Raise a `TableError` where a table of counts lacks columns."""
    known = {*there}
    if missing := [name for name in names if name not in known]:
        raise TableError(
            f"a table of counts must have the columns {', '.join(names)}; missing: "
            f"{', '.join(missing)}."
        )


def refuse_unfit_columns(
    there: Iterable[str], dimensions: Sequence[str], figures: Sequence[str], other: Sequence[str]
) -> None:
    """Raise a `TableError` where arguments do not say of each column once what it is.

    A share, a mean or another sum beside a hidden count may give it away.
    """
    named = [*dimensions, *figures]
    if isinstance(dimensions, str) or not dimensions or len({*named}) < len(named):
        raise TableError(
            "dimensions must be a list of columns, none of them twice; got "
            f"{', '.join(named if dimensions else []) or 'none'}. Name each column once."
        )
    require_columns(there, [*named, *other])
    if unnamed := [name for name in there if name not in {*named, *other}]:
        raise TableError(
            "columns beside hidden counts must not give them away, as shares and means do; no "
            f"argument names {', '.join(unnamed)}. Leave them out, or list under `other` those "
            "that do not follow from counts."
        )


def read_table(
    rows: Sequence[Row],
    dimensions: Sequence[str],
    total: str | None,
    *,
    trees: Mapping[str, Dimension] | None = None,
) -> Published:
    """Read rows, each the labels of the dimensions and then the count.

    A label that is ``total`` (None: NULL) stands for all of its dimension. A cell that is not there
    is zero where others of the same dimensions are. ``trees`` is given of a declared table: the
    categories of each dimension with subtotals; all totals are under ``total``, whatever other
    labels look like. Raises a `TableError` where cells stand there twice, a count is negative,
    nothing is a ``total``, another label has the sums, a label is not in its tree, or the table is
    too large.

    Examples
    --------
    >>> rows = [("north", 7), ("south", None), ("west", None), (None, 10)]
    >>> table = read_table(rows, ["ward"], None)
    >>> table.values.tolist(), table.is_hidden.tolist()
    ([10.0, 7.0, nan, nan], [False, False, True, True])
    """
    if not len(rows):
        raise TableError("a table of counts must have cells; it has no row. Build it first.")
    labels = [[_label(value, total) for value in row[:-1]] for row in rows]
    if total is not None and not any(None in row for row in labels):
        raise TableError(
            f"total must be a label of {' or '.join(dimensions)}; no row has {total!r}. "
            "Correct it: totals under another label would give back what is hidden."
        )
    cube = Cube(tuple(_trees(labels, dimensions, trees or {})))
    if cube.size > MOST_CELLS:
        raise TableError(
            f"the table must have at most {MOST_CELLS:,} cells, totals included; its dimensions "
            f"have {cube.size:,}. Audit it in parts, or with fewer dimensions."
        )
    numbers = cube.numbers(_categories(labels, cube))
    if len(numbers) > len(np.unique(numbers)):
        raise TableError(
            f"each cell must stand there once; {len(numbers) - len(np.unique(numbers)):,} of "
            f"{len(numbers):,} rows repeat another. Group by {', '.join(dimensions)}, and give "
            "NULL of the data a label of its own, since a total looks like it."
        )
    margins = (cube.categories > 0) @ (1 << np.arange(len(dimensions)))
    is_shown = np.isin(margins, np.unique(margins[numbers]))
    published = _published(cube, numbers, is_shown, [row[-1] for row in rows])
    for name, label in () if trees is not None else unnamed_totals(cube, published.values):
        raise TableError(
            f"total must name the label of totals: the label {label!r} of {name} has the sum of "
            "the others, or is named so. Write totals of all dimensions alike, and name their "
            "label; if it is none, add totals of which it is a part."
        )
    return published


def _trees(
    labels: Sequence[Sequence[str | None]],
    dimensions: Sequence[str],
    trees: Mapping[str, Dimension],
) -> Iterator[Dimension]:
    """Yield the tree of each dimension, a flat one where none is given."""
    for place, name in enumerate(dimensions):
        own = {label for row in labels if (label := row[place]) is not None}
        yield trees[name] if name in trees else Dimension.flat(name, sorted(own))


def _categories(labels: Sequence[Sequence[str | None]], cube: Cube) -> Ints:
    """Return the number of each label in its tree, 0 of a total: rows by dimensions."""
    columns = []
    for place, tree in enumerate(cube.dimensions):
        numbers = {label: number for number, label in enumerate(tree.labels) if number}
        column = [0 if row[place] is None else numbers.get(row[place] or "", -1) for row in labels]
        if unknown := column.count(-1):
            raise UnknownLabelError(
                f"labels of {tree.name} must be of its hierarchy; {unknown:,} rows have others. "
                "Build again, or restore the table."
            )
        columns.append(column)
    return np.array(columns, dtype=np.int64).T.reshape(len(labels), len(columns))


def _published(cube: Cube, of_row: Ints, is_shown: Bools, counts: Sequence[object]) -> Published:
    figures = np.array([np.nan if count is None else _figure(count) for count in counts])
    if np.isinf(figures).any():
        raise TableError(
            f"counts must be finite numbers; {int(np.isinf(figures).sum()):,} of {len(figures):,} "
            "are none. Cast the column."
        )
    if (figures < 0).any():
        raise TableError(
            f"counts must not be negative; {int((figures < 0).sum()):,} of {len(figures):,} are. "
            "An interval would need to know how far below zero a cell may be."
        )
    values, is_there = np.full(cube.size, np.nan), np.zeros(cube.size, dtype=bool)
    values[of_row], is_there[of_row] = figures, True
    is_hidden = is_there & np.isnan(values)
    values[is_shown & ~is_there] = 0.0
    return Published(cube, values, is_hidden, is_shown, of_row)


def _figure(count: object) -> float:
    """Return a number, infinity of what is none."""
    try:
        return float(str(count))
    except ValueError:
        return np.inf


def _label(value: object, total: str | None) -> str | None:
    """Return a label, None of a total."""
    if total is None:
        return None if value is None else str(value)
    label = "NULL" if value is None else str(value)
    return None if label == total else label
