"""Intervals of hidden cells: the linear programs against every table that fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.tables.audit import intervals
from dbt_anonymize.extensions.tables.cube import Cube, Dimension
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.programs import Known

pytestmark = pytest.mark.costly

FLAT = Cube((Dimension.flat("a", ["p", "q"]), Dimension.flat("b", ["x", "y", "z"])))
NESTED = Cube(
    (
        Dimension("a", ("all", "p", "p1", "p2", "q"), np.array([0, 0, 1, 1, 0])),
        Dimension.flat("b", ["x", "y"]),
    )
)
MOST = 4


def test_every_cell_is_the_sum_of_its_lines() -> None:
    rng = np.random.default_rng(3)
    for cube in (FLAT, NESTED):
        values = cube.totals(rng.integers(0, 9, cube.size).astype(float))
        lines = list(cube.lines())
        assert len(lines) > 5
        for cell, parts in lines:
            assert values[cell] == values[parts].sum()
        assert values[0] == values[cube.is_inner].sum()


def possible(cube: Cube, published: Floats, within: float = 0, least: int = 0) -> Floats:
    """Return every table of small whole numbers that has the published values."""
    inner = np.flatnonzero(cube.is_inner)
    is_told = ~np.isnan(published)
    found = []
    for values in itertools.product(range(MOST + 1), repeat=len(inner)):
        guess = np.zeros(cube.size)
        guess[inner] = values
        table = cube.totals(guess)
        if (np.abs(table - published)[is_told] <= within).all() and (
            table[~is_told] >= least
        ).all():
            found.append(table)
    return np.array(found)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("cube", [FLAT, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize(("within", "least"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_intervals_are_those_of_all_tables_that_fit(cube: Cube, within: int, least: int) -> None:
    rng = np.random.default_rng(11)
    narrow = 0
    for _ in range(3):
        inner = rng.integers(0, 3, cube.size).astype(float)
        values = cube.totals(inner)
        is_hidden = (rng.random(cube.size) < 0.5) & (values >= least)
        is_hidden[0] = False
        hidden = np.flatnonzero(is_hidden)
        published = values.copy()
        published[hidden] = np.nan
        # Bounded, so that all tables can be listed.
        known = Known.of_published(published, within=within, least=np.where(is_hidden, least, 0))
        is_inner = cube.is_inner
        known = Known(
            known.lowest, np.where(is_inner, np.minimum(known.highest, MOST), known.highest)
        )
        tables = possible(cube, published, within, least)
        lowest, highest = intervals(cube, known, hidden, are_integers=True)
        assert lowest.tolist() == tables.min(axis=0)[hidden].tolist()
        assert highest.tolist() == tables.max(axis=0)[hidden].tolist()
        wide_lowest, wide_highest = intervals(cube, known, hidden)
        assert (wide_lowest <= lowest + 1e-9).all()
        assert (wide_highest >= highest - 1e-9).all()
        narrow += int((highest - lowest < 2).sum())
    assert narrow > 0 or within


def test_one_hidden_cell_of_a_line_is_told_and_of_two_lines_an_interval() -> None:
    values = FLAT.totals(np.arange(12, dtype=float))
    published = values.copy()
    cell = int(FLAT.numbers(np.array([[1, 1]]))[0])
    published[cell] = np.nan
    lowest, highest = intervals(FLAT, Known.of_published(published), [cell])
    assert lowest.tolist() == highest.tolist() == [values[cell]]
    square = FLAT.numbers(np.array([[1, 1], [1, 2], [2, 1], [2, 2]]))
    published[square] = np.nan
    lowest, highest = intervals(FLAT, Known.of_published(published), square)
    assert (highest - lowest > 0).all()


def test_nothing_bounds_a_cell_without_a_total() -> None:
    published = np.full(FLAT.size, np.nan)
    lowest, highest = intervals(FLAT, Known.of_published(published), [0, 5])
    assert lowest.tolist() == [0, 0]
    assert np.isposinf(highest).all()


def test_totals_that_no_table_has_are_refused() -> None:
    values = FLAT.totals(np.ones(12))
    for wrong in (0, int(np.flatnonzero(FLAT.is_inner)[0])):
        published = values.copy()
        published[wrong] += 1
        with pytest.raises(TableError, match="must add up"):
            intervals(FLAT, Known.of_published(published), [0])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sizes", [(8,), (6, 7), (3, 4, 5)])
@pytest.mark.parametrize("scale", [1.0, 123_456.789])
def test_ends_are_those_of_one_program_each(sizes: tuple[int, ...], scale: float) -> None:
    """Hidden cells move together; an end by itself, in a program without groups, is the same."""
    rng = np.random.default_rng(7)
    cube = Cube(tuple(Dimension.flat(str(n), [*"abcdefgh"[:size]]) for n, size in enumerate(sizes)))
    for _ in range(3):
        values = cube.totals(rng.negative_binomial(0.8, 0.1, cube.size) * scale)
        is_hidden = (rng.random(cube.size) < 0.5) & (values > 0)
        least = np.where(is_hidden, scale, 0.0)
        known = Known.of_published(np.where(is_hidden, np.nan, values), least=least)
        hidden = np.flatnonzero(is_hidden)
        lowest, highest = intervals(cube, known, hidden)
        inner = np.flatnonzero(cube.is_inner)
        below = np.array([cube.totals(one)[:] for one in np.eye(cube.size)[inner]]).T
        told, free = below[~is_hidden], below[is_hidden]
        for cell, low, high in zip(free, lowest, highest, strict=True):
            for sign, end in ((1, low), (-1, high)):
                one = linprog(
                    sign * cell, A_eq=told, b_eq=values[~is_hidden], A_ub=-free, b_ub=-least[hidden]
                )
                found = np.inf if one.status == 3 else sign * one.fun
                assert end == pytest.approx(found, rel=1e-6, abs=1e-6 * scale)
        middle = (lowest + np.minimum(highest, values[hidden] + scale)) / 2
        some_low, some_high = intervals(cube, known, hidden, enough=(middle, middle))
        assert (some_low <= middle + 1e-6 * scale).all()
        assert (some_high >= middle - 1e-6 * scale).all()
        assert (some_low >= lowest - 1e-6 * scale).all()
        assert (some_high <= highest + 1e-6 * scale).all()


def test_sums_of_cents_add_up_in_any_order() -> None:
    """Rounding of floats is no contradiction."""
    cube = Cube((Dimension.flat("ward", ["a", "b", "c", "d"]),))
    cents = np.array([0.1, 0.2, 0.3, 0.7])
    for total in (sum(cents), sum(cents[::-1]), 1.3, 1.3 - 2e-16):
        lowest, _ = intervals(cube, Known.of_published(np.array([total, *cents])), [1])
        assert lowest.tolist() == [0.1]
    with pytest.raises(TableError, match="must add up"):
        intervals(cube, Known.of_published(np.array([1.31, *cents])), [1])
