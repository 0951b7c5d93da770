"""Intervals that an attacker can compute for the cells of a published table.

Linear programs over the inner cells, which share nothing with what chose the hidden ones: each
published cell is a constraint on the sum of the inner cells below it, and inner cells are not
negative. The smallest and the largest value of a cell under all constraints is its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from scipy.optimize import (  # type: ignore[import-untyped]
    Bounds,
    LinearConstraint,
    milp,
)
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

from dbt_anonymize.extensions.tables.cube import Cube, Dimension, Floats, Integers
from dbt_anonymize.extensions.tables.errors import TableError

# Inner cells that are solved together as whole numbers; above that bounds are those of fractions,
# which are wider at most by what rounding would cut off: they are never too narrow.
MOST_INTEGERS = 2_000
_INFEASIBLE = 2
# Sums of floats depend on their order; relative to the total.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Known:
    """Bounds of each cell that an attacker knows, infinite where nothing is: two arrays by cell."""

    lowest: Floats
    highest: Floats

    @classmethod
    def of_published(
        cls, values: Floats, *, within: float = 0.0, least: Floats | float = -np.inf
    ) -> Known:
        """Return what published values tell, each true within a distance.

        Of cells that are NaN everybody knows the ``least`` value alone.
        """
        is_hidden = np.isnan(values)
        return cls(
            np.where(is_hidden, least, values - within),
            np.where(is_hidden, np.inf, values + within),
        )


def known_of_totals(cube: Cube, least: Floats) -> Floats:
    """Return the least value of each cell, given the least ones of the inner cells below, too.

    Examples
    --------
    Where zeros are shown, a hidden total has somebody in each cell that is not zero:

    >>> import numpy as np
    >>> cube = Cube((Dimension.flat("ward", ["north", "south", "west"]),))
    >>> known_of_totals(cube, np.array([1.0, 1.0, 1.0, 0.0]))
    array([2., 1., 1., 0.])
    """
    return np.maximum(cube.totals(least), least)


def intervals(
    cube: Cube, known: Known, cells: Sequence[int] | Integers, *, are_integers: bool = False
) -> tuple[Floats, Floats]:
    """Return the smallest and the largest possible values of some cells.

    With ``are_integers`` inner cells are whole numbers, as far as no more than `MOST_INTEGERS` hang
    together. Raises a `TableError` where no table has these published values.

    Examples
    --------
    A hidden cell is the total minus the others; two of them have an interval each:

    >>> import numpy as np
    >>> cube = Cube((Dimension.flat("ward", ["north", "south", "west"]),))
    >>> intervals(cube, Known.of_published(np.array([10, 7, np.nan, 1])), [2])
    (array([2.]), array([2.]))
    >>> intervals(cube, Known.of_published(np.array([10, 7, np.nan, np.nan])), [2])
    (array([0.]), array([3.]))
    """
    program = _Program.of(cube, known, are_integers=are_integers)
    bounds = [program.bounds(int(cell)) for cell in cells]
    lowest, highest = np.array(bounds, dtype=float).reshape(-1, 2).T
    return np.maximum(lowest, known.lowest[cells]), np.minimum(highest, known.highest[cells])


@dataclass(frozen=True)
class _Program:
    """The inner cells that are not known, in groups that no constraint connects.

    ``members`` has the inner cells below each cell, ``group`` the number of the group of each inner
    cell, -1 of a known one. Of each group, ``inner`` has its inner cells, and ``constraints`` what
    is told of their sums.
    """

    members: sparse.csr_matrix
    lower: Floats
    upper: Floats
    group: Integers
    inner: tuple[Integers, ...]
    constraints: tuple[LinearConstraint | tuple[()], ...]
    are_integers: bool

    @classmethod
    def of(cls, cube: Cube, known: Known, *, are_integers: bool) -> _Program:
        members = _members(cube)
        inner = np.flatnonzero(cube.is_inner)
        lower = np.maximum(known.lowest[inner], 0.0)
        upper = known.highest[inner]
        is_free = lower < upper
        is_told = np.isfinite(known.lowest) | np.isfinite(known.highest)
        told = np.flatnonzero(is_told & ~cube.is_inner)
        constraints = members[told]
        fixed = constraints @ np.where(is_free, 0.0, lower)
        constraints = constraints[:, is_free].tocsr()
        least, most = known.lowest[told] - fixed, known.highest[told] - fixed
        touched = np.flatnonzero(constraints.getnnz(axis=1))
        empty = np.setdiff1d(np.arange(len(told)), touched)
        noise = _ROUNDING * np.abs(known.highest[told][empty])
        noise[~np.isfinite(noise)] = 0.0
        if (lower > upper).any() or (least[empty] > noise).any() or (most[empty] < -noise).any():
            raise _contradiction()
        constraints, least, most = constraints[touched], least[touched], most[touched]
        number, labels = connected_components(constraints.T @ constraints, directed=False)
        group = np.full(len(inner), -1)
        group[is_free] = labels
        of_row = labels[constraints.indices[constraints.indptr[:-1]]]
        grouped = []
        for one in range(number):
            rows, columns = np.flatnonzero(of_row == one), np.flatnonzero(labels == one)
            matrix = constraints[rows][:, columns]
            grouped.append(LinearConstraint(matrix, least[rows], most[rows]) if len(rows) else ())
        free = [np.flatnonzero(group == one) for one in range(number)]
        return cls(members, lower, upper, group, tuple(free), tuple(grouped), are_integers)

    def bounds(self, cell: int) -> tuple[float, float]:
        """Return the smallest and the largest sum of the inner cells below a cell."""
        below = self.members[cell].indices
        group = self.group[below]
        smallest = largest = float(self.lower[below[group < 0]].sum())
        for one in np.unique(group[group >= 0]):
            costs = np.isin(self.inner[one], below).astype(float)
            smallest += self._solve(int(one), costs)
            largest -= self._solve(int(one), -costs)
        return smallest, largest

    def _solve(self, one: int, costs: Floats) -> float:
        inner = self.inner[one]
        is_integer = self.are_integers and len(inner) <= MOST_INTEGERS
        solved = milp(
            costs,
            integrality=np.full(len(inner), int(is_integer)),
            bounds=Bounds(self.lower[inner], self.upper[inner]),
            constraints=self.constraints[one],
        )
        if solved.status == _INFEASIBLE:
            raise _contradiction()
        if solved.x is None:
            return -np.inf  # nothing bounds the cell
        return float(round(solved.fun)) if is_integer else float(solved.fun)


def _members(cube: Cube) -> sparse.csr_matrix:
    """Return which inner cells are below each cell: cells by inner cells, 0 or 1."""
    each = [_ancestors(dimension) for dimension in cube.dimensions]
    members = sparse.csr_matrix(reduce(sparse.kron, each))
    members.eliminate_zeros()  # of dense blocks
    return members


def _ancestors(dimension: Dimension) -> sparse.csr_matrix:
    leaves = dimension.leaves
    rows, columns = [], []
    for column, leaf in enumerate(leaves):
        category = int(leaf)
        while True:
            rows.append(category)
            columns.append(column)
            if category == int(dimension.parents[category]):
                break
            category = int(dimension.parents[category])
    shape = (len(dimension.labels), len(leaves))
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def _contradiction() -> TableError:
    return TableError(
        "the published cells must add up, or hide what is missing by a row with NULL; no table "
        "without negative cells, and with somebody in each hidden one, has these totals. Show such "
        "rows, or say that hidden cells may be empty (--least-hidden 0), or by how much counts "
        "differ (--within) if they are rounded or perturbed."
    )
