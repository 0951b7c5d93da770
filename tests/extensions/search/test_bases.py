"""Classes that nodes are grouped from, on tables so small that they must be wanted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.arrays import Bools
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.hashing import distinct, slots
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.measures import classification_metric
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.rollup import Grouper
from dbt_anonymize.privacy import grouping
from dbt_anonymize.privacy.grouping import classes_of, group, labels_of, value_counts
from dbt_anonymize.privacy.table import Node, SensitiveAttribute, Table, ValueCounts
from tests.extensions.search.brute_force import nodes_of, numbered_table, tables
from tests.sampling import examples


def expecting(grouper: Grouper, table: Table) -> Grouper:
    """Let a grouper expect all nodes of a table."""
    lattice = Lattice.of(table)
    grouper.expect(lattice, np.zeros(lattice.shape, dtype=np.uint8))
    return grouper


@pytest.mark.usefixtures("eager_grouping")
@examples(settings(deadline=None), 60)
@given(
    tables(),
    st.randoms(use_true_random=False),
    st.sampled_from([0, 2000, 1 << 20]),
    st.booleans(),
)
def test_nodes_are_grouped_from_bases_as_from_the_table(
    table: Table, random: Any, memory: int, is_expecting: bool
) -> None:
    nodes = list(nodes_of(table))
    grouper = Grouper(table, nodes[0], memory=memory)
    if is_expecting:
        expecting(grouper, table)
    for node in random.choices(nodes, k=20):
        ungrouped, expected = grouper.ungrouped(node), classes_of(table, node)
        is_small = expected.records < 3
        count = ungrouped.least_small_records(3)
        assert count <= expected.records[is_small].sum()
        assert set(ungrouped.small_rows(3)) <= set(np.flatnonzero(rows_in(table, node, is_small)))
        found = ungrouped.classes()
        for name in ("codes", "records", "people", "first", "population"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        pairs = zip(
            (*found.values, *found.targets), (*expected.values, *expected.targets), strict=True
        )
        for counts, others in pairs:
            for name in ("classes", "values", "counts"):
                np.testing.assert_array_equal(getattr(counts, name), getattr(others, name), name)
        np.testing.assert_array_equal(found.table_rows(is_small), rows_in(table, node, is_small))


def rows_in(table: Table, node: Node, classes: Bools) -> Bools:
    """Return the rows of the table in some classes of a node."""
    return classes[group(labels_of(table, node, np.arange(len(table.leaves))))[1]]


@pytest.mark.usefixtures("eager_grouping")
@pytest.mark.parametrize("is_expecting", [False, True])
def test_nodes_share_a_base(is_expecting: bool) -> None:
    table = numbered_table()
    grouper = Grouper(table, (0, 0, 0))
    if is_expecting:
        expecting(grouper, table)
    asked = [(2, 2, level) for level in range(4)] + [(2, level, 2) for level in range(2, 5)]
    rows = [grouper.ungrouped(node).rows for node in asked]
    assert all(len(classes) <= 0.8 * len(table.records) for classes in rows)
    assert len({id(classes) for classes in rows}) < len(rows)


@pytest.mark.usefixtures("eager_grouping")
def test_a_base_that_is_finer_than_open_nodes_is_chosen() -> None:
    table = numbered_table()
    lattice = Lattice.of(table)
    for open_above in ((2, 0, 0), (0, 2, 0), (0, 0, 2)):
        status = np.ones(lattice.shape, dtype=np.uint8)
        status[lattice.coarser(open_above)] = 0
        grouper = Grouper(table, (0, 0, 0))
        grouper.expect(lattice, status)
        found = grouper.ungrouped(lattice.highest).rows.levels
        # No open node needs labels below level 2 of that attribute, many need those of others.
        axis = open_above.index(2)
        assert found[axis] == 2
        assert max(found[:axis] + found[axis + 1 :]) < 2


def test_no_base_is_made_where_no_node_is_open() -> None:
    table = numbered_table(rows=9000)
    lattice = Lattice.of(table)
    grouper = Grouper(table, (0, 0, 0))
    grouper.expect(lattice, np.ones(lattice.shape, dtype=np.uint8))
    assert grouper.ungrouped((2, 2, 2)).rows.levels == (0, 0, 0)


def test_few_rows_are_not_worth_a_base() -> None:
    table = numbered_table(rows=200)
    grouper = expecting(Grouper(table, (0, 0, 0)), table)
    asked = [grouper.ungrouped((2, 2, 2)) for _ in range(20)]
    assert len({len(node.rows) for node in asked}) == 1


@examples(settings(deadline=None), 40)
@given(tables(), st.randoms(use_true_random=False))
def test_what_is_not_asked_for_keeps_no_rows_apart(table: Table, random: Any) -> None:
    nodes = list(nodes_of(table))
    plain = Grouper(table, nodes[0], values=False, targets=False)
    for node in random.choices(nodes, k=6):
        found, expected = plain.classes(node), classes_of(table, node)
        for name in ("codes", "records", "people", "first", "population"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        assert (found.values, found.targets) == ((), ())


def test_a_measure_without_its_targets_is_refused_instead_of_measured() -> None:
    plain = numbered_table(rows=50)
    values = np.arange(len(plain.records)) % 3
    sensitive = SensitiveAttribute("s", 3)
    table = replace(plain, sensitive=((sensitive, values),), targets=((values, 1.0),))
    classes = Grouper(table, (0, 0, 0), targets=False).classes((1, 1, 1))
    with pytest.raises(SearchError, match="needs a target"):
        make_loss("classification_metric").coarser_bound(table, classes)


@examples(settings(deadline=None), 60)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 6), st.integers(0, 3), st.sampled_from([0, 1, 2, 40])
        ),
        min_size=1,
        max_size=30,
    ),
    st.booleans(),
    st.sampled_from([0, 16]),
)
def test_values_are_counted_alike_dense_or_sorted(
    rows: list[tuple[int, int, int, int]], has_subject: bool, dense: int
) -> None:
    classes, values, subjects, records = (np.array(column) for column in zip(*rows, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "DENSE", dense)
        found = value_counts(classes, values, records, subjects if has_subject else None)
    expected: Counter[tuple[int, int]] = Counter()
    if has_subject:
        expected.update((c, v) for c, v, s in {(c, v, s) for c, v, s, n in rows if n})
    else:
        for c, v, _, n in rows:
            expected[c, v] += n
    triples = zip(found.classes.tolist(), found.values.tolist(), found.counts.tolist(), strict=True)
    assert list(triples) == [(c, v, n) for (c, v), n in sorted(expected.items()) if n]


@examples(settings(deadline=None), 60)
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 6)), st.integers(1, 4)),
    st.sampled_from([-1, 1 << 20]),
)
def test_majorities_are_counted_alike_in_cells_or_sorted(
    pairs: dict[tuple[int, int], int], dense: int
) -> None:
    rows = np.array([(*pair, n) for pair, n in sorted(pairs.items())]).reshape(-1, 3)
    counts = ValueCounts(*rows.astype(np.int64).T)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classification_metric, "DENSE", dense)
        found = classification_metric.Majority.of(counts, 6)
    for place in range(6):
        of_class = sorted((n for (c, _), n in pairs.items() if c == place), reverse=True)
        assert found.records[place] == sum(of_class)
        assert found.outside[place] == sum(of_class[1:])
        assert found.is_tied[place] == (len(of_class) > 1 and of_class[0] == of_class[1])


def test_slots_that_are_known_change_nothing() -> None:
    keys = (np.random.default_rng(1).integers(0, 300, 1000),)
    for known, found in zip(distinct(keys, slots(keys, 0)[0]), distinct(keys), strict=True):
        np.testing.assert_array_equal(known, found)


def test_a_base_that_is_not_much_smaller_is_made_once() -> None:
    """Entropy tells far too few classes where nearly all records are in one row."""
    plain = numbered_table(rows=20_000, attributes=4)
    records = np.ones(len(plain.records), dtype=np.int64)
    records[0] = 300_000
    grouper = Grouper(table := replace(plain, records=records), (0,) * 4)
    expecting(grouper, table)
    nodes = [node for node in nodes_of(table) if sum(node) == 5]
    made = [grouper.ungrouped(node).rows for node in nodes]
    of_levels = {rows.levels: rows for rows in made if rows.parent is not None}
    assert of_levels
    assert all(rows is of_levels.get(rows.levels, rows) for rows in made)
