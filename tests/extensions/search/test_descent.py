"""A good node that is found at once, and chains with so much work as fits every machine."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search import optimum as search_module
from dbt_anonymize.extensions.search.chain import chain
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.descent import descend
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.privacy.registry import compile_guarantees
from tests.extensions.search.brute_force import (
    feasible_nodes,
    guarantees_for,
    numbered_table,
    tables,
)
from tests.sampling import examples

LIMITS = [Decimal(0), Decimal("0.05"), Decimal("0.3")]


@examples(settings(deadline=None), 60)
@given(st.data())
def test_what_is_found_at_once_is_feasible_and_no_excluded_node(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    loss, limit = make_loss("loss"), data.draw(st.sampled_from(LIMITS))
    lattice = Lattice.of(table)
    checker = Checker(table, guarantees, loss, limit)
    excluded = {lattice.highest}
    found = descend(checker, lattice, 0, excluded, data.draw(st.integers(1, 200)))
    feasible = {one.node: one for one in feasible_nodes(table, guarantees, loss, limit, 0)}
    if found is not None:
        assert found.node in feasible.keys() - excluded
        assert found.loss == pytest.approx(feasible[found.node].loss)


def test_the_optimum_of_a_large_table_is_found_with_little_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither a clock nor its end decides; more work finds nothing worse."""
    monkeypatch.setattr(search_module, "MOST_ENUMERATED", 0)
    table = numbered_table(rows=1500, attributes=5)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    common = (table, guarantees, make_loss("loss"), Decimal("0.05"))
    complete = chain(*common, 3)
    assert complete.is_complete
    quick = chain(*common, 3, work=1)
    assert not quick.is_complete
    assert quick.points[0] == complete.points[0]
    assert len(quick.points) == len(complete.points) == 3
    assert quick == chain(*common, 3, work=1)
