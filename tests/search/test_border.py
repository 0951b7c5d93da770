"""Foresight orders checks where classes bound what nodes lose; what is found stays exact."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.information_loss.registry import LOSSES, make_loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.search import border, enumerated
from dbt_anonymize.search.border import BorderGuide
from dbt_anonymize.search.forecast import Forecast, counted
from dbt_anonymize.search.lattice import Lattice
from dbt_anonymize.search.optimum import search
from dbt_anonymize.search.pareto import pareto_front
from tests.oracle.brute_force import feasible_nodes, guarantees_for, numbered_table, tables
from tests.sampling import examples

BY_CLASSES = sorted(name for name in LOSSES if make_loss(name).is_bounded_by_classes)
LIMITS = [Decimal("0.05"), Decimal("0.2"), Decimal("0.5")]
K = {"model": "k_anonymity", "k": 4}


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Foresee from the second check on, and learn from the classes of every infeasible node."""
    monkeypatch.setattr(border, "FIRST", 2)
    monkeypatch.setattr(border, "BETWEEN", 1)
    monkeypatch.setattr(border, "LIKELY", -1.0)


@pytest.mark.usefixtures("eager")
@examples(settings(deadline=None), 100)
@given(st.data())
def test_the_optimum_is_that_of_all_nodes_whatever_infeasible_ones_exclude(
    data: st.DataObject,
) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    gs = data.draw(st.sampled_from([0.3, 0.5, 0.9]))
    for name, limit in itertools.product(BY_CLASSES, LIMITS):
        loss = make_loss(name, gs=gs)
        feasible = feasible_nodes(table, guarantees, loss, limit)
        found = search(table, guarantees, loss, limit).optimum
        assert (found is None) == (not feasible), name
        if found is not None:
            least = min(float(node.loss) for node in feasible)
            assert found.loss == pytest.approx(least, rel=1e-9, abs=1e-9), name


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("measure", BY_CLASSES)
def test_the_front_is_that_of_all_nodes_whatever_infeasible_ones_exclude(measure: str) -> None:
    table = numbered_table(rows=700)
    table = type(table)(
        table.attributes, table.leaves, table.records, targets=((table.leaves[:, 0] % 3, 1.0),)
    )
    guarantees, loss, limit = compile_guarantees([K], table), make_loss(measure), Decimal("0.05")
    for size, point in pareto_front(table, guarantees, loss, limit).points:
        nodes = feasible_nodes(table, guarantees, loss, limit, size)
        least = min(found.loss for found in nodes if found.k > 0)
        assert point.loss == pytest.approx(least, rel=1e-12)


@pytest.mark.usefixtures("eager")
def test_a_bound_that_is_a_twentieth_too_high_hides_the_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tests above can fail: bounds of infeasible nodes are made use of."""
    table, limit = numbered_table(rows=300), Decimal("0.05")
    guarantees, loss = compile_guarantees([K], table), make_loss("kl_divergence")
    least = min(found.loss for found in feasible_nodes(table, guarantees, loss, limit))
    bound = type(loss).coarser_bound
    monkeypatch.setattr(type(loss), "coarser_bound", lambda *a, **k: 1.05 * bound(*a, **k))
    found = search(table, guarantees, make_loss("kl_divergence"), limit).optimum
    assert found is not None
    assert found.loss > least


def test_sums_per_level_are_foreseen() -> None:
    lattice = Lattice((0, 1, 0), (3, 3, 2))
    steps = (np.array([0, 2.0, 5.0, 6.0]), np.array([0, 1.0, 1.5, 4.0]), np.array([0, 3.0, 3.5]))
    expected = lattice.add_up(steps).reshape(-1)
    forecast = Forecast(lattice, np.zeros(lattice.shape), least_spread=0.01)
    for index in range(0, lattice.size, 2):
        for _ in range(20):
            forecast.observe(index, float(expected[index]))
    foreseen, spread = forecast.foresee(forecast.numbers)
    assert spread < 0.1
    assert np.abs(foreseen - expected).max() < 0.2


def test_only_the_latest_nodes_are_looked_back_on() -> None:
    lattice = Lattice((0,), (1,))
    forecast = Forecast(lattice, np.zeros(2), least_spread=0.01)
    for number in (100.0, 1.0):
        for place in range(600):
            forecast.observe(place % 2, number)
    foreseen, spread = forecast.foresee(forecast.numbers)
    assert foreseen.tolist() == pytest.approx([1.0, 1.0])
    assert spread == 0.01


def test_finer_and_coarser_nodes_are_counted() -> None:
    nodes = np.random.default_rng(3).integers(0, 9, (2, 3, 4)).astype(float)
    for node in itertools.product(range(2), range(3), range(4)):
        finer = tuple(slice(0, level + 1) for level in node)
        coarser = tuple(slice(level, None) for level in node)
        assert counted(nodes, coarser=False)[node] == nodes[finer].sum()
        assert counted(nodes, coarser=True)[node] == nodes[coarser].sum()


def test_nothing_is_suggested_before_a_node_is_feasible() -> None:
    lattice = Lattice((0, 0), (4, 4))
    guide = BorderGuide(lattice, np.zeros(lattice.shape), most=3, each=0.0)
    is_open = np.ones(lattice.shape, dtype=bool)
    for index in range(20):
        guide.observe(index, 5)
        guide.observe_bound(index, 1.0)
        assert guide.suggest(is_open, np.zeros(lattice.shape), math.inf) is None
    assert guide.suggest(is_open, np.zeros(lattice.shape), 2.0) is not None


def test_witnesses_and_guides_are_for_what_they_fit() -> None:
    table = numbered_table(rows=700)
    guarantees = compile_guarantees([K], table)
    for measure, most, has_border in (
        ("discernibility", "0.05", True),
        ("discernibility", "0", False),
        ("loss", "0.05", False),
    ):
        checker = enumerated.Checker(
            table, guarantees, make_loss(measure), Decimal(most), (0, 0, 0)
        )
        state = enumerated.EnumeratedSearch(checker, Lattice.of(table))
        assert (state._border is not None) == has_border
