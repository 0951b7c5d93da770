"""Every measure of information loss against a plain recount, and its bounds against the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.arrays import Bools
from dbt_anonymize.extensions.search.losses.registry import LOSSES, make_loss
from dbt_anonymize.privacy.aggregates import AGGREGATES
from dbt_anonymize.privacy.grouping import classes_of, labels_of
from dbt_anonymize.privacy.table import Attribute, Classes, Node, Table
from tests.extensions.search.brute_force import numbered_table
from tests.oracle import records
from tests.oracle import search as recount
from tests.sampling import examples
from tests.worlds.coded import coarser, nodes, tables

pytestmark = pytest.mark.costly

GS = st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.9])
MANY = examples(settings(deadline=None), 500)
SOME = examples(settings(deadline=None), 200)


def masks(classes: Classes) -> st.SearchStrategy[Bools]:
    size = len(classes.records)
    return st.lists(st.booleans(), min_size=size, max_size=size).map(np.array)


def released(table: Table, node: Node, suppressed: Bools) -> recount.Released:
    classes = records.classes_of(table, node)
    chosen = [c.labels for c, is_gone in zip(classes, suppressed, strict=True) if is_gone]
    return recount.Released(table, node, classes, frozenset(chosen))


@MANY
@given(st.data())
def test_every_measure_equals_a_recount(data: st.DataObject) -> None:
    table = data.draw(tables())
    node, gs = data.draw(nodes(table)), data.draw(GS)
    classes = classes_of(table, node)
    suppressed = data.draw(masks(classes))
    world, factors = released(table, node, suppressed), recount.Factors.of(gs)
    for name, definition in recount.CLASSWISE.items():
        found = make_loss(name, gs=gs).loss(table, classes, suppressed)
        assert found == pytest.approx(definition(world, factors), rel=1e-9, abs=1e-9), name
    for name, of_attributes in recount.PER_ATTRIBUTE.items():
        losses = of_attributes(world, factors)
        for aggregate in AGGREGATES:
            found = make_loss(name, aggregate=aggregate, gs=gs).loss(table, classes, suppressed)
            expected = recount.aggregated(aggregate, losses, table.attributes)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), (name, aggregate)


@SOME
@given(st.data())
def test_bounds_hold_for_a_node_and_all_coarser_ones(data: st.DataObject) -> None:
    table = data.draw(tables())
    node, gs = data.draw(nodes(table)), data.draw(GS)
    lower = classes_of(table, node)
    upper = classes_of(table, data.draw(coarser(table, node)))
    suppressed = data.draw(masks(upper))
    for name in LOSSES:
        measure = make_loss(name, gs=gs)
        loss = measure.loss(table, upper, suppressed)
        # Alone, and among so many that each is bounded by sums over the table.
        for count in (1, 100):
            assert (measure.lower_bounds(table, np.array([node] * count)) <= loss).all(), name
        assert measure.coarser_bound(table, lower) <= loss, name


@SOME
@given(st.data())
def test_bounds_of_coarser_nodes_hold_where_small_classes_are_never_released(
    data: st.DataObject,
) -> None:
    table = data.draw(tables())
    node, gs, size = data.draw(nodes(table)), data.draw(GS), data.draw(st.integers(0, 6))
    lower = classes_of(table, node)
    upper = classes_of(table, data.draw(coarser(table, node)))
    suppressed = data.draw(masks(upper)) | (upper.people < size)
    for name in LOSSES:
        measure = make_loss(name, gs=gs)
        loss = measure.loss(table, upper, suppressed)
        assert measure.coarser_bound(table, lower, size) <= loss, name


@SOME
@given(st.data())
def test_each_suppressed_record_loses_something_by_itself(data: st.DataObject) -> None:
    table = data.draw(tables())
    node, gs = data.draw(nodes(table)), data.draw(GS)
    classes = classes_of(table, node)
    suppressed = data.draw(masks(classes))
    for name in LOSSES:
        measure = make_loss(name, gs=gs)
        gone = int(classes.records @ suppressed)
        each = measure.least_per_suppressed(table)
        assert each >= 0, name
        assert not each or each * gone <= measure.loss(table, classes, suppressed), name


@SOME
@given(st.data())
def test_what_a_node_must_suppress_raises_the_bounds_of_finer_ones(data: st.DataObject) -> None:
    table = data.draw(tables())
    finest, gs = data.draw(nodes(table)), data.draw(GS)
    node = data.draw(coarser(table, finest))
    classes, upper = classes_of(table, node), classes_of(table, data.draw(coarser(table, node)))
    gone = data.draw(masks(upper))
    inside = {tuple(labels) for labels in upper.codes[gone].tolist()}
    above = labels_of(table, upper.levels, classes.first).tolist()
    suppressed = data.draw(masks(classes)) | np.array([tuple(row) in inside for row in above])
    size = data.draw(st.integers(0, 6))
    before = data.draw(st.integers(0, size))
    suppressed |= classes.people < size
    for name in recount.CLASSWISE:
        measure = make_loss(name, gs=gs)
        loss = measure.loss(table, classes, suppressed)
        by = np.array([measure.suppression_bound(table, upper, gone, size)])
        if not table.total:
            continue
        for count in (1, 100):
            bounds = measure.lower_bounds(table, np.array([node] * count))
            assert (measure.raised(table, bounds, by) <= loss).all(), name
        # A bound that was made for smaller classes stays one.
        bound = np.array([measure.coarser_bound(table, classes_of(table, finest), before)])
        assert (measure.raised(table, bound, by) <= loss).all(), name


@SOME
@given(st.data())
def test_bounds_of_known_suppression_hold(data: st.DataObject) -> None:
    table = data.draw(tables())
    node, gs = data.draw(nodes(table)), data.draw(GS)
    classes = classes_of(table, node)
    suppressed = data.draw(masks(classes))
    labels = [records.labels_of(table, node, leaves) for leaves in table.leaves.tolist()]
    gone = {tuple(classes.codes[i].tolist()) for i in np.flatnonzero(suppressed)}
    known = np.array([label in gone and data.draw(st.booleans()) for label in labels])
    for name in recount.PER_ATTRIBUTE:
        measure = make_loss(name, gs=gs, aggregate=data.draw(st.sampled_from(sorted(AGGREGATES))))
        bounds, nothing = (measure.attribute_bounds(table, rows) for rows in (known, None))
        assert bounds is not None
        assert nothing is not None
        chosen = np.array([[found[level] for found, level in zip(bounds, node, strict=True)]])
        assert measure.combine(chosen)[0] <= measure.loss(table, classes, suppressed), name
        assert all((less <= more + 1e-9).all() for less, more in zip(nothing, bounds, strict=True))
        up_to_node = measure.attribute_bounds(table, known, node)
        assert up_to_node is not None
        for some, found, level in zip(up_to_node, bounds, node, strict=True):
            np.testing.assert_array_equal(some, found[: level + 1])


@pytest.mark.parametrize("name", sorted(set(recount.CLASSWISE) - {"granularity"}))
def test_measures_over_classes_have_no_bounds_per_attribute(name: str) -> None:
    measure = make_loss(name)
    table = Table((), leaves=np.zeros((1, 0), dtype=np.int64), records=np.array([1]))
    assert measure.attribute_bounds(table, None) is None
    assert not measure.has_attribute_bounds
    with pytest.raises(NotImplementedError, match=name):
        measure.combine(np.zeros((1, 1)))


@SOME
@given(st.data())
def test_more_suppression_never_loses_less_where_so_declared(data: st.DataObject) -> None:
    table = data.draw(tables())
    node, gs = data.draw(nodes(table)), data.draw(GS)
    classes = classes_of(table, node)
    fewer, others = data.draw(masks(classes)), data.draw(masks(classes))
    for name in LOSSES:
        measure = make_loss(name, gs=gs)
        less = measure.loss(table, classes, fewer)
        more = measure.loss(table, classes, fewer | others)
        assert not measure.is_monotone_in_suppression or less <= more * (1 + 1e-12) + 1e-9, name


def test_more_suppression_may_lose_less_where_it_is_cheap() -> None:
    for name in ("precision", "entropy_based_loss", "classification_metric"):
        assert make_loss(name, gs=0.5).is_monotone_in_suppression
        assert not make_loss(name, gs=0.4).is_monotone_in_suppression


@SOME
@given(st.data())
def test_loss_of_each_class_orders_by_records_times_shares(data: st.DataObject) -> None:
    table = data.draw(tables())
    node = data.draw(nodes(table))
    classes = classes_of(table, node)
    plain = released(table, node, np.zeros(len(classes.records), np.bool_))
    for aggregate in AGGREGATES:
        found = make_loss("loss", aggregate=aggregate).per_class(table, classes)
        assert found is not None
        expected = [
            recount.aggregated(
                aggregate,
                [
                    n * plain.share(position, int(leaf))
                    for position, leaf in enumerate(table.leaves[first])
                ],
                table.attributes,
            )
            for n, first in zip(classes.records.tolist(), classes.first.tolist(), strict=True)
        ]
        assert found == pytest.approx(expected)
    assert make_loss("discernibility").per_class(table, classes) is None


@SOME
@given(st.data())
def test_an_object_may_be_used_with_one_table_after_another(data: st.DataObject) -> None:
    first, second = data.draw(tables()), data.draw(tables())
    for name in LOSSES:
        measure = make_loss(name)
        for table in (first, second):
            node = tuple(0 for _ in table.attributes)
            classes = classes_of(table, node)
            nothing = np.zeros(len(classes.records), np.bool_)
            fresh = make_loss(name).loss(table, classes, nothing)
            assert measure.loss(table, classes, nothing) == fresh


def test_the_untouched_table_loses_nothing_and_the_root_everything() -> None:
    levels = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))
    shares = tuple(np.bincount(labels) / 4 for labels in levels)
    attribute = Attribute("city", levels, shares, domain_size=4, smallest_share=0.25)
    table = Table((attribute,), leaves=np.arange(4)[:, np.newaxis], records=np.array([1, 2, 3, 4]))
    for name in ("loss", "precision"):
        for level, expected in ((0, 0.0), (2, 1.0)):
            classes = classes_of(table, (level,))
            nothing = np.zeros(len(classes.records), np.bool_)
            assert make_loss(name).loss(table, classes, nothing) == pytest.approx(expected)


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_the_ends_of_the_scale_are_reached_whatever_the_weights(aggregate: str) -> None:
    levels = (np.arange(2), np.zeros(2, dtype=np.int64))
    shares = (np.ones(2) / 2, np.ones(1))
    attributes = [Attribute(f"a{w}", levels, shares, 2, 0.5, weight=w) for w in (0.2, 0.7)]
    rows = np.array([[0, 0], [1, 1]])
    table = Table(tuple(attributes), leaves=rows, records=np.array([1, 2]))
    for name in ("loss", "precision"):
        for node, expected in (((0, 0), 0.0), ((1, 1), 2.0 if aggregate == "sum" else 1.0)):
            classes = classes_of(table, node)
            nothing = np.zeros(len(classes.records), np.bool_)
            found = make_loss(name, aggregate=aggregate).loss(table, classes, nothing)
            assert float(found) == pytest.approx(expected), (name, node)


@pytest.mark.parametrize("gs", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_no_factor_weighs_classes(gs: float) -> None:
    table = numbered_table(rows=60, attributes=1)
    classes = classes_of(table, (1,))
    first = np.arange(len(classes.records)) == 0
    found = make_loss("average_class_size", gs=gs).loss(table, classes, first)
    assert found == table.total / len(classes.records)


def test_a_table_without_records_loses_nothing() -> None:
    levels = (np.arange(2), np.zeros(2, dtype=np.int64))
    attribute = Attribute("sex", levels, (np.ones(2) / 2, np.ones(1)), 2, 0.5)
    table = Table((attribute,), leaves=np.array([[0]]), records=np.array([0]))
    classes = classes_of(table, (0,))
    for name in LOSSES:
        measure = make_loss(name)
        assert measure.loss(table, classes, np.array([False])) == 0.0
        assert measure.lower_bounds(table, np.array([[0]])) == 0.0
        assert measure.suppression_bound(table, classes, np.array([True])) == 0.0
        assert measure.coarser_bound(table, classes) == 0.0
        assert measure.least_per_suppressed(table) == 0.0
        bounds = measure.attribute_bounds(table, None)
        assert bounds is None or all(not found.any() for found in bounds)


@SOME
@given(st.data())
def test_what_classes_lose_by_kl_divergence_is_added_up_by_label(data: st.DataObject) -> None:
    table = data.draw(tables())
    classes = classes_of(table, data.draw(nodes(table)))
    measure = make_loss("kl_divergence")
    loss = measure.loss(table, classes, np.zeros(len(classes.records), dtype=np.bool_))
    if table.total:
        bound = measure.coarser_bound(table, classes) + measure.sums(table).overlap
        assert bound == pytest.approx(loss, abs=1e-8)
