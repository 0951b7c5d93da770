"""One record in a small class excludes nodes, exactly those at which its class is small."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search import enumerated
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.rollup import Grouper
from dbt_anonymize.extensions.search.witnesses import Witnesses
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import compile_guarantees
from tests.extensions.search.brute_force import feasible_nodes, guarantees_for, nodes_of, tables
from tests.sampling import examples


@examples(settings(deadline=None), 100)
@given(st.data())
def test_class_sizes_of_a_record_are_those_of_every_node(data: st.DataObject) -> None:
    table = data.draw(tables())
    lattice = Lattice.of(table)
    row = data.draw(st.integers(0, len(table.records) - 1))
    sizes = Witnesses(table, lattice).class_sizes(row).reshape(-1)
    for node in nodes_of(table):
        classes = classes_of(table, node)
        labels = [
            attribute.levels[level][leaf]
            for attribute, level, leaf in zip(
                table.attributes, node, table.leaves[row], strict=True
            )
        ]
        (own,) = np.flatnonzero((classes.codes == labels).all(axis=1))
        assert sizes[lattice.index(node)] == classes.records[own]


@examples(settings(deadline=None), 100)
@given(st.data())
def test_a_witness_is_a_record_in_a_small_class(data: st.DataObject) -> None:
    table, size = data.draw(tables()), data.draw(st.integers(1, 8))
    lattice = Lattice.of(table)
    node = data.draw(st.sampled_from(list(nodes_of(table))))
    ungrouped = Grouper(table, lattice.lowest).ungrouped(node)
    count = ungrouped.least_small_records(size)
    witnesses = Witnesses(table, lattice)
    row = witnesses.choose(ungrouped.small_rows(size))
    if row is not None:
        assert table.records[row] > 0
        assert witnesses.class_sizes(row).reshape(-1)[lattice.index(node)] < size
    elif count and table.population is None:
        pytest.fail("a small class with records has a witness")


@examples(settings(deadline=None), 150)
@given(st.data())
def test_with_witnesses_a_search_finds_the_optimum_of_all_nodes(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    loss = make_loss(data.draw(st.sampled_from(["loss", "precision", "non_uniform_entropy"])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumerated, "_BEFORE_WITNESSES", 0)
        found = search(table, guarantees, loss, Decimal(0)).optimum
    feasible = feasible_nodes(table, guarantees, loss, Decimal(0))
    assert (found is None) == (not feasible)
    if found is not None:
        assert found.loss == pytest.approx(min(node.loss for node in feasible), abs=1e-9)
