"""The guided measure against a plain recount, its bounds, and the best nodes by it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search import optimum as search_module
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.optimum import lattice_search
from dbt_anonymize.extensions.search.pareto import pareto_front
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Table
from tests.extensions.search.brute_force import feasible_nodes, numbered_table
from tests.oracle.records import classes_of as recounted
from tests.oracle.records import records_of
from tests.sampling import examples
from tests.worlds.coded import coarser, nodes, tables

SOME = examples(settings(deadline=None), 100)
Predicted = dict[int, list[np.ndarray]]


def predicted(data: st.DataObject, table: Table, outputs: int = 2) -> tuple[Table, Predicted]:
    """Draw predictions of some records of a table; return them by row, centred and scaled."""
    of_row: Predicted = {}
    for record in records_of(table):
        if data.draw(st.booleans()):
            values = [data.draw(st.integers(-3, 3)) for _ in range(outputs)]
            of_row.setdefault(record.row, []).append(np.array(values, dtype=float))
    everybody = [values for found in of_row.values() for values in found]
    if everybody:
        mean = np.mean(everybody, axis=0)
        total = sum(float(((values - mean) ** 2).sum()) for values in everybody) or 1.0
        of_row = {
            row: [(values - mean) / total**0.5 for values in found] for row, found in of_row.items()
        }
    sums = np.zeros((len(table.records), 2 + outputs))
    for row, found in of_row.items():
        for values in found:
            sums[row] += [1.0, float((values**2).sum()), *values]
    return replace(table, predictions=sums), of_row


def lost(
    table: Table, of_row: Predicted, node: tuple[int, ...], gone: set[tuple[int, ...]]
) -> float:
    """Add up squared deviations record by record."""
    total = 0.0
    for found in recounted(table, node):
        rows = {record.row for record in found.records}
        values = [values for row in sorted(rows) for values in of_row.get(row, [])]
        if values:
            center = np.zeros_like(values[0]) if found.labels in gone else np.mean(values, axis=0)
            total += sum(float(((one - center) ** 2).sum()) for one in values)
    return total


@SOME
@given(st.data())
def test_the_measure_equals_a_recount(data: st.DataObject) -> None:
    table, of_row = predicted(data, data.draw(tables()))
    node = data.draw(nodes(table))
    classes = classes_of(table, node)
    suppressed = np.array([data.draw(st.booleans()) for _ in classes.records], dtype=np.bool_)
    gone = {tuple(classes.codes[at].tolist()) for at in np.flatnonzero(suppressed)}
    found = Guided().loss(table, classes, suppressed)
    assert found == pytest.approx(lost(table, of_row, node, gone), abs=1e-12)
    assert -1e-12 <= found <= 1 + 1e-12


@SOME
@given(st.data())
def test_bounds_hold_for_all_coarser_nodes_whatever_is_suppressed(data: st.DataObject) -> None:
    table, _ = predicted(data, data.draw(tables()))
    measure = Guided(gs=data.draw(st.sampled_from([0.05, 0.5, 0.9])))
    finest = data.draw(nodes(table))
    node = data.draw(coarser(table, finest))
    top = data.draw(coarser(table, node))
    classes, upper = classes_of(table, node), classes_of(table, top)
    gone = np.array([data.draw(st.booleans()) for _ in upper.records], dtype=np.bool_)
    inside = {tuple(labels) for labels in upper.codes[gone].tolist()}
    above = [
        tuple(
            int(attribute.levels[level][leaf])
            for attribute, level, leaf in zip(table.attributes, top, leaves, strict=True)
        )
        for leaves in table.leaves[classes.first].tolist()
    ]
    suppressed = np.array([labels in inside or data.draw(st.booleans()) for labels in above])
    loss = measure.loss(table, classes, suppressed)
    by = measure.suppression_bound(table, upper, gone)
    bounds = [
        float(measure.lower_bounds(table, np.array([node]))[0]),
        float(measure.lower_bounds(table, np.array([finest]))[0]),
        measure.coarser_bound(table, classes_of(table, finest)),
    ]
    assert max(bounds) + by <= loss


@SOME
@given(st.data())
def test_the_best_nodes_are_those_of_all_nodes(data: st.DataObject) -> None:
    table, _ = predicted(data, data.draw(tables()), outputs=1)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    limit, count, k = Decimal("0.2"), data.draw(st.integers(1, 4)), data.draw(st.integers(2, 4))
    expected = sorted(
        found.loss for found in feasible_nodes(table, guarantees, Guided(), limit, k)
    )[:count]
    lattice = Lattice.of(table)
    with pytest.MonkeyPatch.context() as patched:
        if data.draw(st.booleans()):
            patched.setattr(search_module, "MOST_ENUMERATED", 1)
        checker = Checker(table, guarantees, Guided(), limit)
        state = lattice_search(checker, lattice, k, leaders=count)
        state.run(Clock())
    found = [checked.loss for checked in state.leaders.nodes]
    assert found == pytest.approx(expected, abs=1e-8)


def test_the_front_reads_predictions_that_are_rolled_up() -> None:
    table = numbered_table(64)
    of_record = np.arange(64) % 4 - 1.5
    sums = np.column_stack([np.ones(64), of_record**2, of_record])
    sums[:, 1:2] /= float((of_record**2).sum())
    sums[:, 2] /= float((of_record**2).sum()) ** 0.5
    table = replace(table, predictions=sums)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    front = pareto_front(table, guarantees, Guided(), Decimal(0))
    for k, checked in front.points:
        all_found = feasible_nodes(table, guarantees, Guided(), Decimal(0), k)
        assert checked.loss == pytest.approx(min(found.loss for found in all_found), abs=1e-9)


def test_a_table_without_predictions_is_refused() -> None:
    table = numbered_table(4)
    classes = classes_of(table, tuple(0 for _ in table.attributes))
    with pytest.raises(SearchError, match="must have predictions"):
        Guided().loss(table, classes, np.zeros(len(classes.records), dtype=np.bool_))
