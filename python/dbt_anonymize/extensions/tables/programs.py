"""Programs over the inner cells of a table: which tables there may be, given what is published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from scipy.optimize import (  # type: ignore[import-untyped]
    Bounds,
    LinearConstraint,
    linprog,
    milp,
)
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.tables.cube import Cube, Dimension
from dbt_anonymize.extensions.tables.errors import TableError

# Inner cells that are solved together as whole numbers; above that bounds are those of fractions,
# which are wider at most by what rounding would cut off: they are never too narrow.
MOST_INTEGERS = 2_000
# Inner cells that the simplex method solves faster than interior points.
_MOST_SIMPLEX = 2_000
_SOLVED, _INFEASIBLE, _UNBOUNDED = 0, 2, 3
# Sums of floats depend on their order; relative to the total.
_ROUNDING = 1e-12
# Solvers leave off as much of whole numbers.
_WHOLE = 1e-6


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

    @classmethod
    def of_hidden(cls, values: Floats, is_hidden: Bools, least: Floats) -> Known:
        """Return what is told where some cells are hidden, and all others are what they are."""
        return cls(np.where(is_hidden, least, values), np.where(is_hidden, np.inf, values))


@dataclass(frozen=True)
class Program:
    """The inner cells that are not known, in groups that no constraint connects.

    ``members`` has the inner cells below each cell, ``group`` the number of the group of each inner
    cell, -1 of one without constraints: known, or free within its bounds.
    """

    members: sparse.csr_matrix
    lower: Floats
    upper: Floats
    group: Ints
    groups: tuple[_Group, ...]
    are_integers: bool = False

    @classmethod
    def of(cls, cube: Cube, known: Known) -> Program:
        """Return the program of a table: each total that is told constrains the cells below it."""
        members = _members(cube)
        inner = np.flatnonzero(cube.is_inner)
        lower = np.maximum(known.lowest[inner], 0.0)
        upper = known.highest[inner]
        is_free = lower < upper
        is_told = np.isfinite(known.highest) | (known.lowest > members @ lower)
        told = np.flatnonzero(is_told & ~cube.is_inner)
        constraints = members[told]
        fixed = constraints @ np.where(is_free, 0.0, lower)
        constraints = constraints[:, is_free].tocsr()
        least, most = known.lowest[told] - fixed, known.highest[told] - fixed
        is_empty = constraints.getnnz(axis=1) == 0
        noise = _ROUNDING * np.abs(known.highest[told][is_empty])
        noise[~np.isfinite(noise)] = 0.0
        if (lower > upper).any() or (least[is_empty] > noise).any():
            raise _contradiction()
        if (most[is_empty] < -noise).any():
            raise _contradiction()
        group = np.full(len(inner), -1)
        rows, group[is_free] = _connected(constraints)
        rows[is_empty] = -1
        column = np.cumsum(is_free) - 1
        groups = []
        for of_rows, of_inner in zip(_places(rows), _places(group), strict=True):
            groups.append(
                _Group(
                    of_inner,
                    np.stack([lower[of_inner], upper[of_inner]], axis=1),
                    constraints[of_rows][:, column[of_inner]],
                    least[of_rows],
                    most[of_rows],
                )
            )
        return cls(members, lower, upper, group, tuple(groups))

    def solution(self, weights: Floats) -> Floats | None:
        """Return inner cells of a possible table with the largest weighted sum, None if unbounded.

        NaN in groups without a weight. With ``are_integers`` whole numbers, as far as no more than
        `MOST_INTEGERS` hang together.
        """
        values = np.where(weights > 0, self.upper, self.lower)
        values[self.group >= 0] = np.nan
        numbers = np.unique(self.group[weights != 0])
        for number in numbers[numbers >= 0]:
            one = self.groups[number]
            is_whole = self.are_integers and len(one.inner) <= MOST_INTEGERS
            found = one.least_cost(-weights[one.inner], is_whole=is_whole)
            if found is None:
                return None
            values[one.inner] = found
        return values


@dataclass(frozen=True)
class _Group:
    """Inner cells that hang together, their bounds (cells by 2), and what is told of their sums."""

    inner: Ints
    bounds: Floats
    matrix: sparse.csr_matrix
    least: Floats
    most: Floats

    def least_cost(self, costs: Floats, *, is_whole: bool) -> Floats | None:
        """Return the cheapest values, None where costs have no end."""
        found = self._fractions(costs)
        if found is None or not is_whole:
            return found
        whole: Floats = np.round(found)
        return whole if np.abs(found - whole).max() < _WHOLE else self._integers(costs)

    def _fractions(self, costs: Floats) -> Floats | None:
        is_equal = self.least == self.most
        is_above, is_below = ~is_equal & np.isfinite(self.least), ~is_equal & np.isfinite(self.most)
        rows = sparse.vstack([self.matrix[is_below], -self.matrix[is_above]]).tocsr()
        # Interior points are faster where many cells hang together; the fallback is slow and sure.
        first = "highs-ds" if len(costs) <= _MOST_SIMPLEX else "highs-ipm"
        for method, presolve in ((first, True), ("highs-ds", False)):
            solved = linprog(
                costs,
                A_ub=rows if rows.shape[0] else None,
                b_ub=np.concatenate([self.most[is_below], -self.least[is_above]])
                if rows.shape[0]
                else None,
                A_eq=self.matrix[is_equal] if is_equal.any() else None,
                b_eq=self.most[is_equal] if is_equal.any() else None,
                bounds=self.bounds,
                method=method,
                options={"presolve": presolve},
            )
            if solved.status == _SOLVED:
                return np.asarray(solved.x)
            if solved.status == _INFEASIBLE:
                raise _contradiction()
            if solved.status == _UNBOUNDED:
                return None
        raise _unsolved(solved.status)

    def _integers(self, costs: Floats) -> Floats | None:
        solved = milp(
            costs,
            integrality=np.ones(len(costs)),
            bounds=Bounds(*self.bounds.T),
            constraints=LinearConstraint(self.matrix, self.least, self.most),
            options={"mip_rel_gap": 0.0},
        )
        if solved.status == _INFEASIBLE:
            raise _contradiction()
        if solved.status != _SOLVED:
            raise _unsolved(solved.status)
        return np.asarray(np.round(solved.x))


def _connected(constraints: sparse.csr_matrix) -> tuple[Ints, Ints]:
    """Return the numbers of the groups of rows and of columns, -1 of a column without rows."""
    rows, columns = constraints.shape
    graph = sparse.block_array([[None, constraints], [constraints.T, None]])
    _, labels = connected_components(graph, directed=False)
    is_bound = constraints.getnnz(axis=0) > 0
    _, numbers = np.unique(labels[rows:][is_bound], return_inverse=True)
    of_columns = np.full(columns, -1)
    of_columns[is_bound] = numbers
    of_rows = np.full(rows, -1)
    is_row = constraints.getnnz(axis=1) > 0
    of_rows[is_row] = of_columns[constraints.indices[constraints.indptr[:-1][is_row]]]
    return of_rows, of_columns


def _places(numbers: Ints) -> list[Ints]:
    """Return the places of each number from 0, in their order; -1 has none."""
    order = np.argsort(numbers, kind="stable")
    order = order[numbers[order] >= 0]
    if not len(order):
        return []
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


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


def _unsolved(status: int) -> TableError:
    return TableError(
        f"the programs of the audit must be solved; one ended with status {status} of HiGHS. "
        "Audit the table in parts, or with fewer dimensions."
    )


def _contradiction() -> TableError:
    return TableError(
        "the published cells must add up, or hide what is missing by a row with NULL; no table "
        "without negative cells, and with somebody in each hidden one, has these totals. Show such "
        "rows, or say that hidden cells may be empty (--least-hidden 0), or by how much counts "
        "differ (--within) if they are rounded or perturbed."
    )
