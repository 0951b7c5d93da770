"""A search for the largest payout, against every node and the definition of a payout."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dbt_anonymize.extensions.search.optimum as search_module
from dbt_anonymize.arrays import Bools
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.publisher_payout import PublisherPayout
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import MODELS, compile_guarantees
from dbt_anonymize.privacy.table import Node, Table
from tests.extensions.search.brute_force import feasible_nodes, nodes_of, tables
from tests.oracle import privacy, records
from tests.sampling import examples

pytestmark = pytest.mark.needs("payouts")

GAMES = st.fixed_dictionaries(
    {
        "publisher_benefit": st.sampled_from([1, 4]),
        "publisher_loss": st.sampled_from([0, 1, 3]),
        "adversary_gain": st.sampled_from([0, 2.1, 4, 10]),
        "adversary_cost": st.sampled_from([0.7, 1, 3]),
        "attacker": st.just("prosecutor"),
    }
)


def total_payout(table: Table, node: Node, game: dict[str, Any], suppressed: Bools) -> float:
    """Add up the payouts of all released records."""
    return sum(
        len(found.records) * privacy.payout(game, one)
        for found, is_gone in zip(records.classes_of(table, node), suppressed, strict=True)
        if found.records and not is_gone
        for one in [privacy.Class(found.people, covered=found.covered)]
    )


@examples(settings(deadline=None), 60)
@given(st.data())
def test_the_search_finds_the_largest_payout_of_all_nodes(data: st.DataObject) -> None:
    table, game = data.draw(tables()), data.draw(GAMES)
    declared = [{"model": "k_anonymity", "k": 2}, {"model": "profitable", **game}]
    guarantees = compile_guarantees(declared, table)
    loss = PublisherPayout(MODELS["profitable"](**game))
    for limit, most in itertools.product((Decimal(0), Decimal("0.5"), Decimal(1)), (10**6, 0)):
        feasible = {found.node: found for found in feasible_nodes(table, guarantees, loss, limit)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MOST_ENUMERATED", most)
            optimum = search(table, guarantees, loss, limit).optimum
        assert (optimum is None) == (not feasible)
        for node, found in feasible.items():
            assert optimum is not None
            assert optimum.loss <= found.loss + 1e-9
            suppressed = guarantees.violating(classes_of(table, node))
            paid = total_payout(table, node, game, suppressed)
            benefit = game["publisher_benefit"] * table.total
            assert found.loss == pytest.approx(benefit - paid, abs=1e-9)


@examples(settings(deadline=None), 60)
@given(st.data())
def test_no_coarser_node_costs_less_than_the_bound(data: st.DataObject) -> None:
    table, game = data.draw(tables()), data.draw(GAMES)
    loss = PublisherPayout(MODELS["profitable"](**game), gs=data.draw(st.sampled_from([0.5, 0.05])))
    for node in nodes_of(table):
        bound = loss.lower_bounds(table, np.array([node]))[0]
        for upper in nodes_of(table):
            if all(a <= b for a, b in zip(node, upper, strict=True)):
                classes = classes_of(table, upper)
                drawn = data.draw(st.booleans())
                suppressed = classes.people < (3 if drawn else 0)
                assert bound <= loss.loss(table, classes, suppressed) + 1e-9
