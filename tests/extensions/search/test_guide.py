"""Foresight orders the checks of a search; what is found stays exact."""

from __future__ import annotations

import itertools
import math
import operator
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search import bases, enumerated, guide, open_nodes
from dbt_anonymize.extensions.search.chain import chain
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.forecast import Forecast, box_counts
from dbt_anonymize.extensions.search.guide import Guide
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.registry import LOSSES, make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.pareto import pareto_front
from dbt_anonymize.extensions.search.results import Status
from dbt_anonymize.privacy.registry import compile_guarantees
from tests.extensions.search.brute_force import (
    feasible_nodes,
    guarantees_for,
    numbered_table,
    tables,
)
from tests.sampling import examples

pytestmark = pytest.mark.costly

BY_CLASSES = sorted(name for name in LOSSES if make_loss(name).is_bounded_by_classes)
LIMITS = [Decimal("0"), Decimal("0.05"), Decimal("0.2"), Decimal("0.5")]
MEASURES = sorted(set(LOSSES) - {"publisher_payout"})
K = {"model": "k_anonymity", "k": 4}


@pytest.fixture
def eager(eager_grouping: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Foresee from the second check on, suggest what is hardly worth it, form all classes."""
    monkeypatch.setattr(guide, "FIRST", 2)
    monkeypatch.setattr(guide, "BETWEEN", 1)
    monkeypatch.setattr(guide, "LIKELY", -1.0)
    monkeypatch.setattr(guide, "WORTHWHILE", 0.01)
    monkeypatch.setattr(guide, "LEAST_CHANCE", 0.0)
    monkeypatch.setattr(enumerated, "NODES_PER_ROW", 1000)
    monkeypatch.setattr(open_nodes, "BETWEEN", 1)
    monkeypatch.setattr(bases, "SHARE_OF_BASE", 0.8)


@pytest.mark.usefixtures("eager")
@examples(settings(deadline=None), 100)
@given(st.data())
def test_the_optimum_is_that_of_all_nodes_whatever_suggested_ones_exclude(
    data: st.DataObject,
) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    gs = data.draw(st.sampled_from([0.3, 0.5, 0.9]))
    for name, limit in itertools.product(MEASURES, LIMITS):
        loss = make_loss(name, gs=gs)
        feasible = feasible_nodes(table, guarantees, loss, limit)
        found = search(table, guarantees, loss, limit).optimum
        assert (found is None) == (not feasible), name
        if found is not None:
            least = min(float(node.loss) for node in feasible)
            assert found.loss == pytest.approx(least, rel=1e-9, abs=1e-9), name


@pytest.mark.usefixtures("eager")
@examples(settings(deadline=None), 100)
@given(st.data())
def test_each_effort_of_a_chain_is_the_best_above_the_last(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    limit, loss = (
        data.draw(st.sampled_from(LIMITS)),
        make_loss(data.draw(st.sampled_from(MEASURES))),
    )
    last = None
    for size, point in chain(table, guarantees, loss, limit, 3).points:
        above = [
            node
            for node in feasible_nodes(table, guarantees, loss, limit, size)
            if node.k > 0 and (last is None or all(map(operator.ge, node.node, last.node)))
        ]
        root = tuple(attribute.height for attribute in table.attributes)
        above = [node for node in above if last is None or node.node not in {last.node, root}]
        least = min(float(node.loss) for node in above)
        assert point.loss == pytest.approx(least, rel=1e-9, abs=1e-9)
        last = point


@pytest.mark.sampled(1)
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
    foreseen, spread = forecast.predict(forecast.numbers)
    assert spread < 0.1
    assert np.abs(foreseen - expected).max() < 0.2


def test_only_the_latest_nodes_are_looked_back_on() -> None:
    lattice = Lattice((0,), (1,))
    forecast = Forecast(lattice, np.zeros(2), least_spread=0.01)
    for number in (100.0, 1.0):
        for place in range(600):
            forecast.observe(place % 2, number)
    foreseen, spread = forecast.predict(forecast.numbers)
    assert foreseen.tolist() == pytest.approx([1.0, 1.0])
    assert spread == 0.01


def test_finer_and_coarser_nodes_are_counted() -> None:
    nodes = np.random.default_rng(3).integers(0, 9, (2, 3, 4)).astype(float)
    for node in itertools.product(range(2), range(3), range(4)):
        finer = tuple(slice(0, level + 1) for level in node)
        coarser = tuple(slice(level, None) for level in node)
        assert box_counts(nodes, coarser=False)[node] == nodes[finer].sum()
        assert box_counts(nodes, coarser=True)[node] == nodes[coarser].sum()


def guide_of(lattice: Lattice, *, by_classes: bool) -> Guide:
    return Guide(lattice, np.zeros(lattice.shape), most=3, each=0.0, by_classes=by_classes)


@pytest.mark.parametrize("by_classes", [True, False])
def test_nothing_is_suggested_before_something_can_be_foreseen(by_classes: bool) -> None:
    lattice = Lattice((0, 0), (4, 4))
    found = guide_of(lattice, by_classes=by_classes)
    status, bounds = np.zeros(lattice.shape, dtype=np.uint8), np.zeros(lattice.shape)
    for index in range(20 if by_classes else guide.FIRST - 1):
        found.observe(index, 5)
        found.observe_bound(index, 1.0)
        assert found.suggest(status, bounds, math.inf) is None
    found.observe(20, 5)
    assert found.suggest(status, bounds, 2.0) is not None


def test_a_node_that_is_not_open_is_suggested_for_what_it_excludes() -> None:
    """The coarsest infeasible one excludes the most; where classes bound nodes, only open ones."""
    lattice = Lattice((0, 0), (9, 9))
    number = np.add.outer(np.arange(10), np.arange(10))
    status = np.where(number < 6, Status.OPEN, Status.PRUNED).astype(np.uint8)
    for by_classes in (False, True):
        found = guide_of(lattice, by_classes=by_classes)
        for index in range(lattice.size):
            # Levels that add up to 11 or more are feasible.
            found.observe(index, 0 if number.reshape(-1)[index] > 10 else 1000)
            found.observe_bound(index, 1.0)
        found.forget()
        index = found.suggest(status, np.zeros(lattice.shape), 2.0)
        assert index is not None
        assert (number.reshape(-1)[index] < 6) == by_classes
        assert sum(lattice.node(index)) <= 10


def test_what_was_excluded_meanwhile_is_not_counted_on() -> None:
    lattice = Lattice((0, 0), (9, 9))
    found = guide_of(lattice, by_classes=False)
    for index in range(guide.FIRST):
        found.observe(index, 1000)
    status, bounds = np.zeros(lattice.shape, dtype=np.uint8), np.zeros(lattice.shape)
    assert found.suggest(status, bounds, 2.0) == lattice.size - 1
    status[1:] = Status.INFEASIBLE
    suggested = found.suggest(status, bounds, 2.0)
    assert suggested is not None
    assert (status[lattice.finer(lattice.node(suggested))] == Status.OPEN).sum() == 10
    found.leave_out(suggested)
    others = found.suggest(status, bounds, 2.0)
    assert others not in {None, suggested}
    found.settle(lattice.coarser((0, 0)))
    assert found.suggest(status, bounds, 2.0) is None
    found.forget()
    assert found.suggest(status, bounds, 2.0) is not None
    status[:] = Status.PRUNED
    assert found.suggest(status, bounds, 2.0) is None


@pytest.mark.parametrize("is_raised", [False, True])
def test_an_excluded_node_is_never_the_best(is_raised: bool) -> None:
    """Neither if the guide would have it checked, nor after more is asked for."""
    table = numbered_table(rows=300)
    guarantees, loss = compile_guarantees([K], table), make_loss("loss")
    lattice, limit = Lattice.of(table), Decimal("0.05")
    optimum = search(table, guarantees, loss, limit).optimum
    assert optimum is not None
    checker = enumerated.Checker(table, guarantees, loss, limit)
    state = enumerated.EnumeratedSearch(checker, lattice)
    state.exclude(optimum.node)
    index = lattice.index(optimum.node)
    assert state._guide is not None
    assert not state._guide._may_be_suggested.reshape(-1)[index]
    if is_raised:
        state.require(4)
    second = state.run(Clock())
    assert second is not None
    assert second.node != optimum.node
    assert not state._guide._may_be_suggested.reshape(-1)[index]


def test_guides_are_for_what_they_fit() -> None:
    table = numbered_table(rows=700)
    guarantees = compile_guarantees([K], table)
    for measure, most, by_classes in (
        ("discernibility", "0.05", True),
        ("discernibility", "0", None),
        ("loss", "0.05", False),
    ):
        checker = enumerated.Checker(table, guarantees, make_loss(measure), Decimal(most))
        state = enumerated.EnumeratedSearch(checker, Lattice.of(table))
        assert (state._guide and state._guide.by_classes) == by_classes
