"""Secondary suppression: which further cells must be hidden for the primary ones to stay hidden.

The cells are chosen by pytauargus (tau-ARGUS with HiGHS), and checked here. Tables of up to
`LARGEST_OPTIMAL` cells are solved as one program, whose pattern is the cheapest one; larger ones by
the modular method, one small subtable after the other. Dimensions with more than `MOST_CHILDREN`
categories below one are split for it by sums that are not shown, since the time of a subtable grows
fast with its size. The modular method takes at most three dimensions.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from scipy.optimize import linprog  # type: ignore[import-untyped]

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.tables import tau
from dbt_anonymize.extensions.tables.audit import intervals, known_of_totals
from dbt_anonymize.extensions.tables.calls import call, private_folder
from dbt_anonymize.extensions.tables.cube import ROOT, Cube, Dimension
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.primary import Primary
from dbt_anonymize.extensions.tables.programs import Known

# Cells; see the measurements on the page of tables.
LARGEST_OPTIMAL = 250
MOST_CHILDREN = 4
# The package takes minutes above, a quarter of an hour for 100,000.
LARGEST_CHECKED = 25_000
# Dimensions; the package crashes at more.
MOST_MODULAR_DIMENSIONS = 3
# Sums are calculated in whole units, this many of the largest one.
_UNITS = 1e7
_MOST_WHOLE = 1e7
# The package takes whole costs, and crashes where they and values are large; those of the modular
# method it scales to 20,000.
_LARGEST_SUM_OF_COSTS = 1e7
_LARGEST_MODULAR_COST = 20_000.0
_STEPS_OF_CHEAPEST = 10
_TOLERANCE = 1e-7
# The programs of the audit take numbers up to about this.
_MOST_CHECKED = 1e4


def suppress(
    cube: Cube,
    values: Floats,
    primary: Primary,
    cost: Floats,
    least: Floats,
    *,
    seconds: float,
    folder: Path,
) -> Bools:
    """Return the cells to hide: the primary ones, and others that cost least.

    Parameters
    ----------
    cube : Cube
        The table; with several shown margins, one that covers them.
    values : array of cells, >= 0
        Counts or sums, of which each line adds up.
    primary : Primary
        Cells to protect, all with values above 0. An attacker's interval of a primary cell must
        reach from value - lower, or the least that everybody knows, to value + upper.
    cost : array of cells, >= 0
        What hiding a cell costs, relative to the others; 0 of a cell that is not shown. Such cells
        are among those returned, at no cost.
    least : array of cells, from 0 to the value
        What everybody knows of a hidden cell: where zeros are shown, it is not empty.
    seconds : float
        Time limit of the call. The package has its own of the same order, in whole minutes of
        processor time, after which the cheapest pattern found is returned: the fewer seconds above
        90, the rather the call fails instead.
    folder : Path
        Folder of mode 0700 for files with values, which are gone afterwards. One call at a time
        uses it; what a killed one left is removed by the next.

    Returns
    -------
    array of cells
        True where hidden. Zeros are always shown: nobody is in them.

    Raises
    ------
    TableError
        If the package is missing, does not finish, or returns a pattern that protects too little.

    References
    ----------
    .. [1] Fischetti & Salazar 2001, Management Science 47(7):1008-1027 (the optimal method).
    .. [2] de Wolf 2002, Inference Control in Statistical Databases, 74-82 (the modular one).
    """
    _refuse_unfit(cube, values, primary, cost)
    is_hidden: Bools = primary.is_primary | ((cost == 0) & (values > 0))
    if not primary.is_primary.any():
        return is_hidden
    if find_spec("pytauargus") is None:
        raise TableError(
            "suppression must find the package pytauargus; it is not installed. "
            "Install it with: pip install dbt-anonymize[tables]"
        )
    primary = reachable(cube, values, primary, least)
    method = method_of(cube)
    numbers, solved = _prepared(cube, method)
    if solved.dimensions:
        whole = _whole_costs(cost, method)
        cells = _cells(solved, numbers, values, primary, cost=whole, least=least)
        with private_folder(folder) as private:
            tau.save_problem(private, solved, method, seconds, cells)
            found = call(private, method, seconds)
        is_found = np.zeros(solved.size, dtype=bool)
        is_found[found] = True
        is_hidden |= is_found[numbers] & (values > 0)
    narrow = narrow_cells(cube, values, primary, is_hidden, least)
    if method == tau.MODULAR and narrow.any():
        price = np.where(is_hidden, 0.0, cost)
        is_hidden |= _widened(cube, values, primary, narrow, cost=price, least=least)
        # The intervals of the others have become no narrower by it.
        left = primary._replace(is_primary=np.asarray(narrow.any(axis=0)))
        narrow = narrow_cells(cube, values, left, is_hidden, least)
    if narrow.any():
        count, left_over = int(primary.is_primary.sum()), int(narrow.any(axis=0).sum())
        raise TableError(
            f"suppression ({method}) must protect all of {count} primary cells; pytauargus left "
            f"{left_over} of them too narrow. Coarsen a dimension, or protect the table by noise "
            "or rounding."
        )
    return is_hidden


def method_of(cube: Cube) -> str:
    """Return the method for a table.

    Examples
    --------
    >>> method_of(Cube((Dimension.flat("age", ["young", "old"]),)))
    'optimal'
    """
    return tau.OPTIMAL if cube.size <= LARGEST_OPTIMAL else tau.MODULAR


def _refuse_unfit(
    cube: Cube,
    values: Floats,
    primary: Primary,
    cost: Floats,
) -> None:
    for name, array in (
        ("values", values),
        ("lower", primary.lower),
        ("upper", primary.upper),
        ("cost", cost),
    ):
        if array.shape != (cube.size,) or not (np.isfinite(array) & (array >= 0)).all():
            raise TableError(
                f"{name} must be a number of at least 0 for each of {cube.size} cells; got others. "
                "Sum another column, or set negative values to NULL."
            )
    if not np.allclose(cube.totals(values), values, rtol=1e-9, atol=1e-9):
        raise TableError(
            "values must add up along each line of a table; those of some line do not. "
            "Count all cells from the same records."
        )
    if wrong := int((primary.is_primary & (values == 0)).sum()):
        raise TableError(
            f"primary cells must have values above 0, since zeros are shown; {wrong} have none. "
            "Protect counts instead of sums."
        )
    if cube.size > LARGEST_CHECKED:
        raise TableError(
            f"a table must have at most {LARGEST_CHECKED:,} cells, totals included, to be checked "
            f"as a whole; got {cube.size:,}. Coarsen a dimension, or show counts with noise."
        )
    dimensions = sum(len(one.labels) > 1 for one in cube.dimensions)
    if method_of(cube) == tau.MODULAR and dimensions > MOST_MODULAR_DIMENSIONS:
        raise TableError(
            f"suppression of more than {LARGEST_OPTIMAL} cells must have at most "
            f"{MOST_MODULAR_DIMENSIONS} dimensions; got {cube.size} cells of {dimensions}. "
            "Coarsen them, or protect margins of fewer."
        )


def reachable(cube: Cube, values: Floats, primary: Primary, least: Floats) -> Primary:
    """Demand of no total that it could be less than what everybody knows of its parts."""
    room = np.maximum(values - known_of_totals(cube, least, values == 0), 0)
    return primary._replace(lower=np.minimum(primary.lower, room))


def _prepared(cube: Cube, method: str) -> tuple[Ints, Cube]:
    """Return the table to solve, and the number in it of each cell.

    A category with a single child is the same as its child. Whatever has no other is left out.
    """
    most = MOST_CHILDREN if method == tau.MODULAR else sys.maxsize
    trees = [_tree(dimension, most) for dimension in cube.dimensions]
    kept = [place for place, (_, solved) in enumerate(trees) if len(solved.labels) > 1]
    solved = Cube(tuple(trees[place][1] for place in kept))
    columns = [trees[place][0][cube.categories[:, place]] for place in kept]
    numbers = np.zeros(cube.size, dtype=np.int64)
    if kept:
        numbers = solved.numbers(np.stack(columns, axis=1))
    return numbers, solved


def _tree(dimension: Dimension, most: int) -> tuple[Ints, Dimension]:
    """Return the category of each one in a tree with at most so many children, in its order.

    Examples
    --------
    >>> moved, tree = _tree(Dimension.flat("month", "abcde"), 3)
    >>> moved.tolist(), tree.parents.tolist()
    ([0, 2, 3, 4, 6, 7], [0, 0, 1, 1, 1, 0, 5, 5])
    """
    moved = np.zeros(len(dimension.labels), dtype=np.int64)
    parents = [ROOT]

    def place(category: int, number: int) -> None:
        moved[category] = number
        children = dimension.children(category)
        if len(children) == 1:
            place(int(children[0]), number)
        else:
            split(children, number)

    def split(children: Ints, number: int) -> None:
        groups = min(most, -(-len(children) // most))
        if len(children) <= most:
            groups = len(children)
        for group in np.array_split(children, groups) if groups else []:
            parents.append(number)
            if len(group) == 1:
                place(int(group[0]), len(parents) - 1)
            else:
                split(group, len(parents) - 1)

    place(ROOT, ROOT)
    return moved, Dimension(dimension.name, ("",) * len(parents), np.array(parents))


def _cells(
    solved: Cube, numbers: Ints, values: Floats, primary: Primary, *, cost: Floats, least: Floats
) -> dict[str, Floats]:
    """Return the cells as the package takes them: values in whole units, whole costs."""
    inner, demanded = np.zeros(solved.size), np.zeros(solved.size, dtype=bool)
    (costs, known), bounds = np.zeros((2, solved.size)), np.zeros((2, solved.size))
    inner[numbers] = values
    np.logical_or.at(demanded, numbers, primary.is_primary)
    np.add.at(costs, numbers, cost)
    np.maximum.at(known, numbers, least)
    factor, slack = 1.0, 0.0
    if (values != np.round(values)).any() or values.max() > _MOST_WHOLE:
        factor, slack = _UNITS / values.max(), 2.0  # for what rounding takes away
        inner = np.where(inner > 0, np.maximum(np.round(inner * factor), 1), 0)
    whole = solved.totals(inner)
    for bound, width in zip(bounds, primary[1:], strict=True):
        np.maximum.at(bound, numbers, np.where(primary.is_primary, width * factor + slack, 0))
    return {
        "values": whole,
        "demanded": demanded,
        "lower": np.minimum(bounds[0], whole),
        "upper": bounds[1],
        "cost": costs,
        "least": np.minimum(np.floor(known * factor), whole),
    }


def _whole_costs(cost: Floats, method: str) -> Floats:
    """Return costs that the package keeps apart, 0 or 1 of what is not shown."""
    shown = cost[cost > 0]
    if not len(shown):
        return cost
    if method == tau.MODULAR:  # what costs 2,000 times as much as the cheapest costs no more
        steps: Floats = np.ceil(cost / shown.min() * _STEPS_OF_CHEAPEST)
        return np.clip(steps, 1, _LARGEST_MODULAR_COST)
    if (cost == np.round(cost)).all() and cost.sum() <= _LARGEST_SUM_OF_COSTS:
        return cost
    scaled: Floats = np.round(cost * (_LARGEST_SUM_OF_COSTS / cost.sum()))
    return np.where(cost > 0, np.maximum(scaled, 1), 0.0)


def narrow_cells(
    cube: Cube, values: Floats, primary: Primary, is_hidden: Bools, least: Floats
) -> Bools:
    """Tell of each cell, below and above, if an attacker's interval ends too early: 2 by cells."""
    is_narrow = np.zeros((2, cube.size), dtype=bool)
    cells = np.flatnonzero(primary.is_primary)
    if not len(cells):
        return is_narrow
    # A power of two, so that sums stay what they are.
    scale = 2.0 ** max(0, int(np.ceil(np.log2(max(1.0, values.max()) / _MOST_CHECKED))))
    known = Known.of_hidden(values / scale, is_hidden, least / scale)
    low, high = np.maximum(values - primary.lower, 0)[cells], (values + primary.upper)[cells]
    ends = intervals(cube, known, cells, enough=(low / scale, high / scale))
    lowest, highest = (bound * scale for bound in ends)
    room = _room(values)
    is_narrow[0, cells] = lowest > low + room
    is_narrow[1, cells] = highest < high - room
    return is_narrow


def _room(values: Floats) -> float:
    """Return by how much solvers may miss a value; whole numbers differ by more."""
    room = _TOLERANCE * max(1.0, float(values.max()))
    return min(room, 0.5) if (values == np.round(values)).all() else room


def _widened(
    cube: Cube, values: Floats, primary: Primary, is_narrow: Bools, *, cost: Floats, least: Floats
) -> Bools:
    """Return further cells to hide: the modular method leaves them out, looking at parts alone.

    One cell after the other is moved to where its interval must reach, below and above, by the
    cheapest changes of others, and what changes is hidden; hidden cells have a ``cost`` of 0.

    References
    ----------
    .. [1] Kelly, Golden & Assad 1992, Networks 22(4):397-417 (that linear program).
    """
    sums = list(cube.lines())
    rows = np.concatenate([np.full(len(parts) + 1, row) for row, (_, parts) in enumerate(sums)])
    columns = np.concatenate([np.append(parts, total) for total, parts in sums])
    signs = np.concatenate([np.append(np.ones(len(parts)), -1.0) for _, parts in sums])
    lines = sparse.csr_matrix((signs, (rows, columns)), shape=(len(sums), cube.size))
    both = sparse.hstack([lines, -lines]).tocsr()
    price, is_hidden = cost.copy(), np.zeros(cube.size, dtype=bool)
    room = _room(values)
    for side, cell in zip(*np.nonzero(is_narrow), strict=True):
        width = primary.upper[cell] if side else min(primary.lower[cell], values[cell])
        # Changes upwards, then downwards. What nobody is in stays at zero.
        most = np.concatenate([np.where(values > 0, np.inf, 0.0), values - least])
        least_changes = np.zeros(2 * cube.size)
        up, down = cell, cube.size + cell
        most[[up, down]] = 0.0
        most[down if side == 0 else up] = least_changes[down if side == 0 else up] = width
        found = linprog(
            np.concatenate([price, price]),
            A_eq=both,
            b_eq=np.zeros(len(sums)),
            bounds=np.stack([least_changes, most], axis=1),
            method="highs",
        )
        if found.status == 0:
            is_hidden |= np.abs(found.x[: cube.size] - found.x[cube.size :]) > room
            price[is_hidden] = 0.0
    return is_hidden
