"""Intervals that an attacker can compute for the cells of a published table.

Linear programs over the inner cells, which share nothing with what chose the hidden ones: each
published cell is a constraint on the sum of the inner cells below it, and inner cells are not
negative. The smallest and the largest value of a cell under all constraints is its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.tables.cube import Cube
from dbt_anonymize.extensions.tables.programs import Known, Program

# Ends below and above, as numbers that become larger the farther they are.
_SIGNS = np.array([[-1.0], [1.0]])
# Solvers leave off as much, relative to a value.
_NEAR = 1e-7
# Bounds of lines become narrower by less and less.
_MOST_ROUNDS = 20


def known_of_totals(cube: Cube, least: Floats, is_zero: Bools) -> Floats:
    """Return the least value of each cell that follows from the least ones of all, line by line.

    Examples
    --------
    Where zeros are shown, a hidden total has somebody in each cell that is not zero:

    >>> from dbt_anonymize.extensions.tables.cube import Dimension
    >>> cube = Cube((Dimension.flat("ward", ["north", "south", "west"]),))
    >>> is_zero = np.array([False, False, False, True])
    >>> known_of_totals(cube, np.array([1.0, 1.0, 1.0, 0.0]), is_zero)
    array([2., 1., 1., 0.])

    and what a total has is in the one cell that is none:

    >>> is_zero = np.array([False, True, False, True])
    >>> known_of_totals(cube, np.array([3.0, 0.0, 1.0, 0.0]), is_zero)
    array([3., 0., 3., 0.])
    """
    return line_bounds(cube, Known(least, np.where(is_zero, 0.0, np.inf)))[0]


def intervals(
    cube: Cube,
    known: Known,
    cells: Sequence[int] | Ints,
    *,
    are_integers: bool = False,
    enough: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Return the smallest and the largest possible values of some cells.

    With ``are_integers`` inner cells are whole numbers, as far as no more than `MOST_INTEGERS` hang
    together. A smallest value that is at most the first array of ``enough``, or a largest one that
    is at least the second, is one that the cell may have, and maybe not the end: it is found much
    sooner. Raises a `TableError` where no table has these published values.

    Examples
    --------
    A hidden cell is the total minus the others; two of them have an interval each:

    >>> from dbt_anonymize.extensions.tables.cube import Dimension
    >>> cube = Cube((Dimension.flat("ward", ["north", "south", "west"]),))
    >>> intervals(cube, Known.of_published(np.array([10, 7, np.nan, 1])), [2])
    (array([2.]), array([2.]))
    >>> intervals(cube, Known.of_published(np.array([10, 7, np.nan, np.nan])), [2])
    (array([0.]), array([3.]))
    """
    cells = np.asarray(cells, dtype=np.int64)
    program = Program.of(cube, known)
    members = program.members[cells]
    farthest = _SIGNS * np.stack(line_bounds(cube, known))[:, cells]
    demanded = np.full(farthest.shape, np.inf) if enough is None else _SIGNS * np.stack(enough)
    reached = _reached(program, members, farthest, np.minimum(farthest, demanded))
    if are_integers:
        # Whole numbers reach no farther than fractions, which are sooner found.
        farthest = np.floor(reached + _NEAR * np.maximum(1.0, np.abs(reached)))
        whole = replace(program, are_integers=True)
        reached = _reached(whole, members, farthest, np.minimum(farthest, demanded))
    lowest, highest = _SIGNS * reached
    return np.maximum(lowest, known.lowest[cells]), np.minimum(highest, known.highest[cells])


def _reached(
    program: Program, members: sparse.csr_matrix, farthest: Floats, aims: Floats
) -> Floats:
    """Return the ends of cells, the lower ones with the other sign (2 by cells): larger is farther.

    Each solution is a table that may be, and tells of all cells how far they may go. Cells that
    have not yet reached their aims move together: fewer of them, where too many do not arrive. The
    last ones move one by one.
    """
    near = _NEAR * np.maximum(1.0, np.abs(np.where(np.isfinite(aims), aims, 0.0)))
    reached = np.full(aims.shape, -np.inf)
    is_open = np.ones(aims.shape, dtype=bool)

    def move(side: int, moved: Ints) -> bool:
        weights = _SIGNS[side] * np.asarray(members[moved].sum(axis=0)).ravel()
        values = program.solution(weights)
        if values is not None:
            np.fmax(reached, _SIGNS * (members @ values), out=reached)
            is_open[reached >= aims - near] = False
        return values is not None

    random = np.random.default_rng(0)
    for side in (1, 0):
        # Where nothing bounds a cell, the others would not move.
        together = random.permutation(np.flatnonzero(np.isfinite(farthest[side])))
        size = len(together)
        while size > 1 and len(together := together[is_open[side, together]]):
            moved = together[:size]
            move(side, moved)
            if 2 * np.count_nonzero(is_open[side, moved]) > len(moved):
                size = len(moved) // 2
            together = np.roll(together, -len(moved))
    for side, cell in np.argwhere(is_open):
        if is_open[side, cell]:
            is_bounded = move(side, np.array([cell]))
            reached[side, cell] = reached[side, cell] if is_bounded else np.inf
            is_open[side, cell] = False
    return np.where(reached >= aims - near, np.clip(reached, aims, farthest), reached)


def line_bounds(cube: Cube, known: Known) -> tuple[Floats, Floats]:
    """Return bounds of all cells that follow from one line after the other: never too narrow.

    Examples
    --------
    >>> from dbt_anonymize.extensions.tables.cube import Dimension
    >>> cube = Cube((Dimension.flat("ward", ["north", "south", "west"]),))
    >>> line_bounds(cube, Known.of_published(np.array([10, 7, np.nan, np.nan])))
    (array([10.,  7.,  0.,  0.]), array([10.,  7.,  3.,  3.]))
    """
    lowest = np.maximum(known.lowest, 0.0).reshape(cube.shape)
    highest = known.highest.reshape(cube.shape).copy()
    families = [
        (place, category, children)
        for place, dimension in enumerate(cube.dimensions)
        for category in range(len(dimension.labels))
        if len(children := dimension.children(category))
    ]
    for _ in range(_MOST_ROUNDS):
        before = lowest.sum(), highest[np.isfinite(highest)].sum(), np.isfinite(highest).sum()
        for place, category, children in families:
            low, high = np.moveaxis(lowest, place, 0), np.moveaxis(highest, place, 0)
            least, most = low[children], high[children]
            is_bounded = np.isfinite(most)
            bounded = np.where(is_bounded, most, 0.0)
            unbounded = (~is_bounded).sum(axis=0)
            # Within what is known already: the rounding of sums would grow from round to round.
            low[category] = np.clip(least.sum(axis=0), low[category], high[category])
            total = np.where(unbounded, np.inf, bounded.sum(axis=0))
            high[category] = np.clip(total, low[category], high[category])
            others = np.where(unbounded - ~is_bounded, np.inf, bounded.sum(axis=0) - bounded)
            low[children] = np.clip(low[category] - others, least, most)
            below = least.sum(axis=0) - least
            high[children] = np.clip(high[category] - below, low[children], most)
        if before == (
            lowest.sum(),
            highest[np.isfinite(highest)].sum(),
            np.isfinite(highest).sum(),
        ):
            break
    return lowest.ravel(), highest.ravel()
