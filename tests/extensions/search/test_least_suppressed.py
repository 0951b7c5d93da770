"""Least suppression of t-closeness at finer nodes, against looking at each of them."""

from __future__ import annotations

import gc
import itertools
import weakref
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search.rollup import Grouper
from dbt_anonymize.extensions.search.unavoidable import least_suppressed
from dbt_anonymize.privacy.distances import Distribution, max_records_within_equal_distance
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import compile_guarantees
from tests.extensions.search.brute_force import nodes_of, numbered_table
from tests.extensions.search.brute_force import tables as searched_tables
from tests.sampling import examples
from tests.worlds.coded import nodes, tables

SOME = examples(settings(deadline=None), 200)
T = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 1.0])


@SOME
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), min_size=1, max_size=4), T)
def test_no_part_of_a_class_that_is_close_enough_has_more_records(
    values: list[tuple[int, int]], t: float
) -> None:
    counts = np.array([n for n, _ in values])
    weights = [weight for _, weight in values]
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    occurring = np.flatnonzero(counts)
    classes = np.ones(len(occurring), dtype=np.int64)
    found = max_records_within_equal_distance(
        Distribution(3, classes, occurring, counts[occurring]),
        np.array([float(share) for share in shares]),
        t,
    )
    assert found[0] == found[2] == 0.0
    for part in itertools.product(*(range(int(n) + 1) for n in counts)):
        whole = sum(part)
        if not whole:
            continue
        away = sum(max(Fraction(n, whole) - p, 0) for n, p in zip(part, shares, strict=True))
        assert away > Fraction(t) or whole <= found[1] * (1 + 1e-9) + 1e-9


@SOME
@given(st.data())
def test_finer_nodes_suppress_no_less(data: st.DataObject) -> None:
    table = data.draw(tables() if data.draw(st.booleans()) else searched_tables())
    k, t = data.draw(st.integers(2, 5)), data.draw(T.filter(bool))
    attribute = data.draw(st.sampled_from([found.name for found, _ in table.sensitive]))
    closeness = {"model": "t_closeness", "attribute": attribute, "t": t}
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": k}, closeness], table)
    node = data.draw(nodes(table))
    least = least_suppressed(guarantees, classes_of(table, node), k)
    for finer in nodes_of(table):
        if any(level > top for level, top in zip(finer, node, strict=True)):
            continue
        classes = classes_of(table, finer)
        assert int(classes.records @ guarantees.violating(classes)) >= least


def test_a_class_that_lacks_too_much_goes_as_a_whole() -> None:
    # Two of three values are left: half of the records have the third.
    values = Distribution(1, np.array([0, 0]), np.array([0, 1]), np.array([3, 3]))
    shares = np.array([0.25, 0.25, 0.5])
    assert max_records_within_equal_distance(values, shares, 0.4).tolist() == [0.0]
    assert max_records_within_equal_distance(values, shares, 0.5)[0] >= 6.0


def test_the_memory_of_a_search_is_free_at_once() -> None:
    table = numbered_table(rows=50)
    grouper = Grouper(table, (0, 0, 0))
    grouper.classes((1, 1, 1))
    known = weakref.ref(grouper)
    gc.disable()
    try:
        del grouper
        assert known() is None
    finally:
        gc.enable()


@examples(settings(deadline=None), 60)
@given(st.data())
def test_nodes_are_grouped_alike_whatever_is_kept(data: st.DataObject) -> None:
    table = data.draw(searched_tables())
    lowest = tuple(attribute.lowest for attribute in table.attributes)
    asked = [node for node in nodes_of(table) for _ in range(2)]
    data.draw(st.randoms(use_true_random=False)).shuffle(asked)
    groupers = [Grouper(table, lowest, memory=memory) for memory in (0, 4000, 1 << 20)]
    for node in asked:
        expected = classes_of(table, node)
        for grouper in groupers:
            found = grouper.classes(node)
            assert (found.codes == expected.codes).all()
            assert (found.records == expected.records).all()
            assert (found.people == expected.people).all()
