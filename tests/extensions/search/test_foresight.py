"""On lattices large enough for foresight, which only orders the checks, every node is looked at."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.enumerated import EnumeratedSearch
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.pareto import pareto_front
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import SensitiveAttribute, Table
from tests.extensions.search.brute_force import feasible_nodes, numbered_table

pytestmark = pytest.mark.costly

K = {"model": "k_anonymity", "k": 4}
GUARANTEES = [
    [K],
    [K, {"model": "l_diversity", "attribute": "s", "variant": "entropy", "l": 2.2}],
    [K, {"model": "t_closeness", "attribute": "s", "t": 0.3}],
]
MEASURES = ["loss", "average_class_size", "discernibility", "kl_divergence"]
MEASURES += ["classification_metric", "ambiguity"]


@pytest.fixture(scope="module")
def table() -> Table:
    """Return 700 rows of three attributes with five levels each, and a skewed sensitive value."""
    plain = numbered_table(rows=700)
    values = np.random.default_rng(5).choice(4, len(plain.records), p=[0.55, 0.25, 0.15, 0.05])
    # Values depend on the first attribute too, so that some classes are far from the whole.
    values = np.where(plain.leaves[:, 0] > 12, 3 - values, values)
    sensitive = SensitiveAttribute("s", 4)
    return replace(plain, sensitive=((sensitive, values),), targets=((values, 1.0),))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [Decimal(0), Decimal("0.05")])
@pytest.mark.parametrize("declared", GUARANTEES)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_optimum_is_that_of_all_nodes(
    table: Table, measure: str, declared: list[dict[str, Any]], limit: Decimal
) -> None:
    guarantees, loss = compile_guarantees(declared, table), make_loss(measure)
    least = min(found.loss for found in feasible_nodes(table, guarantees, loss, limit))
    found = search(table, guarantees, loss, limit)
    assert found.optimum is not None
    assert found.optimum.loss == pytest.approx(least, rel=1e-12)
    assert found.checked < found.lattice_size


@pytest.mark.parametrize("measure", MEASURES[:4])
def test_the_front_is_that_of_all_nodes(table: Table, measure: str) -> None:
    guarantees, loss, limit = compile_guarantees([K], table), make_loss(measure), Decimal("0.05")
    front = pareto_front(table, guarantees, loss, limit)
    assert len(front.points) > 3
    for size, point in front.points:
        nodes = feasible_nodes(table, guarantees, loss, limit, size)
        least = min(found.loss for found in nodes if found.k > 0)
        assert point.loss == pytest.approx(least, rel=1e-12)


def test_what_small_classes_raised_is_not_added_to_bounds_for_larger_ones() -> None:
    """Fails where `require` keeps what was raised for the class size before."""
    plain, limit = numbered_table(rows=300), Decimal("0.6")
    values = np.where(plain.leaves[:, 0] > 8, 0, plain.leaves[:, 1] % 4)
    table = replace(plain, sensitive=((SensitiveAttribute("s", 4), values),))
    diverse = {"model": "l_diversity", "attribute": "s", "l": 3}
    guarantees, loss = compile_guarantees([diverse], table), make_loss("average_class_size")
    lattice = Lattice.of(table)
    state = EnumeratedSearch(Checker(table, guarantees, loss, limit), lattice, k=2)
    for k in (2, 5):
        if k > 2:
            state.require(k)
        state.run(Clock())
        feasible = feasible_nodes(table, guarantees, loss, limit, k)
        assert len(feasible) > 20
        for found in feasible:
            bound = state._bound.reshape(-1)[lattice.index(found.node)]
            assert bound <= found.loss + 1e-9, found.node
