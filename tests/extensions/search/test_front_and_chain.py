"""The Pareto front and the chain keep what they promise, by looking at every node."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search import optimum as search_module
from dbt_anonymize.extensions.search.chain import chain
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.pareto import pareto_front
from dbt_anonymize.privacy.registry import compile_guarantees
from tests.extensions.search.brute_force import (
    feasible_nodes,
    guarantees_for,
    numbered_table,
    tables,
)
from tests.sampling import examples

LIMITS = [Decimal(0), Decimal("0.05"), Decimal("0.3"), Decimal(1)]
MEASURES = ["loss", "discernibility", "average_class_size", "classification_metric"]


@examples(settings(deadline=None), 30, 5)
@given(st.data())
def test_the_front_has_the_least_loss_of_every_class_size(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    loss = make_loss(data.draw(st.sampled_from(MEASURES)))
    limit = data.draw(st.sampled_from(LIMITS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "MOST_ENUMERATED", data.draw(st.sampled_from([0, 10**6])))
        front = pareto_front(table, guarantees, loss, limit)
    assert front.is_complete
    losses = [node.loss for _, node in front.points]
    assert [node.k for _, node in front.points] == [k for k, _ in front.points]
    assert all(np.diff([k for k, _ in front.points]) > 0)
    assert all(np.diff(losses) > 0)
    for k in range(guarantees.min_class_size, table.total + 2):
        feasible = feasible_nodes(table, guarantees, loss, limit, k)
        least = min((found.loss for found in feasible if found.k > 0), default=math.inf)
        of_front = min((node.loss for size, node in front.points if size >= k), default=math.inf)
        assert of_front == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("most", [0, 10**6])
def test_a_chain_without_time_begins_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(search_module, "MOST_ENUMERATED", most)
    table = numbered_table(rows=1500, attributes=4)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 4}], table)
    common = (table, guarantees, make_loss("discernibility"), Decimal(0))
    optimum = search(*common).optimum
    assert optimum is not None
    (coarsest,) = chain(*common, 1, clock=Clock(0)).points
    (first,) = chain(*common, 1, start=optimum.node, clock=Clock(0)).points
    assert first == (4, optimum)
    assert coarsest[1].loss > optimum.loss


@examples(settings(deadline=None), 60)
@given(st.data())
def test_a_chain_rises_and_each_node_is_the_best_above_the_one_before(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    loss = make_loss(data.draw(st.sampled_from(MEASURES)))
    limit = data.draw(st.sampled_from(LIMITS))
    length = data.draw(st.integers(1, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "MOST_ENUMERATED", data.draw(st.sampled_from([0, 10**6])))
        found = chain(table, guarantees, loss, limit, length)
    assert found.is_complete
    assert len(found.points) <= length
    before = np.full(len(table.attributes), -1)
    excluded: set[tuple[int, ...]] = set()
    reached = 0
    for k, node in found.points:
        least = min(
            other.loss
            for other in feasible_nodes(table, guarantees, loss, limit, k)
            if other.k > 0 and other.node not in excluded and (np.array(other.node) >= before).all()
        )
        assert node.loss == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert node.k >= k > reached
        before, reached = np.array(node.node), node.k
        excluded = {node.node, tuple(attribute.height for attribute in table.attributes)}
    if len(found.points) < length:
        k = max(reached + 1, guarantees.min_class_size)
        left = feasible_nodes(table, guarantees, loss, limit, k)
        assert not [
            other
            for other in left
            if other.k > 0 and other.node not in excluded and (np.array(other.node) >= before).all()
        ]


def test_a_chain_is_spaced_geometrically_and_starts_with_the_optimum() -> None:
    table = numbered_table()
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    loss, limit = make_loss("loss"), Decimal("0.02")
    found = chain(table, guarantees, loss, limit, 6)
    assert len(found.points) == 6
    assert found.points[0][1] == search(table, guarantees, loss, limit).optimum
    # The last reaches the class size of one attribute at its second level from the top.
    assert 4096 / 2 * 0.9 < found.points[-1][1].k < 4096 / 2
    ratios = np.diff(np.log([node.k for _, node in found.points]))
    assert ratios.max() < 3 * ratios.min()
    assert found == chain(table, guarantees, loss, limit, 6)


def test_without_time_the_chain_and_the_front_say_that_they_are_not_complete() -> None:
    table = numbered_table()
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    loss = make_loss("loss")
    found = chain(table, guarantees, loss, Decimal(0), 4, clock=Clock(0))
    assert (len(found.points), found.is_complete) == (1, False)
    front = pareto_front(table, guarantees, loss, Decimal(0), time_limit=0)
    assert (len(front.points), front.is_complete) == (1, False)
