"""The search finds what looking at every node finds."""

from __future__ import annotations

import itertools
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.tables import read_table
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search import optimum as search_module
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.results import (
    CheckedNode,
    Progress,
    SearchResult,
    Status,
    VisitedNodes,
)
from dbt_anonymize.extensions.search.rollup import Grouper
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, Table
from tests.extensions.search.brute_force import (
    feasible_nodes,
    guarantees_for,
    nodes_of,
    numbered_table,
    tables,
)
from tests.sampling import examples

pytestmark = pytest.mark.costly

LIMITS = [Decimal(0), Decimal("0.05"), Decimal("0.5"), Decimal(1)]
MEASURES = [
    ("loss", None, 0.5),
    ("granularity", None, 0.5),
    ("loss", "maximum", 0.9),
    ("precision", None, 0.3),
    ("discernibility", None, 0.5),
    ("average_class_size", None, 0.5),
    ("non_uniform_entropy", None, 0.5),
    ("ambiguity", None, 0.5),
    ("entropy_based_loss", None, 0.5),
    ("classification_metric", None, 0.5),
    ("total_information_loss", None, 0.3),
    ("kl_divergence", None, 0.5),
]


@examples(settings(deadline=None), 150)
@given(st.data())
def test_the_search_finds_the_optimum_of_all_nodes(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    name, aggregate, gs = data.draw(st.sampled_from(MEASURES))
    loss = make_loss(name, aggregate=aggregate, gs=gs)
    for limit, most in itertools.product(LIMITS, (10**6, 0)):
        feasible = {found.node: found for found in feasible_nodes(table, guarantees, loss, limit)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MOST_ENUMERATED", most)
            result = search(table, guarantees, loss, limit)
        assert result.is_complete
        assert result.lattice_size == len(list(nodes_of(table)))
        if not feasible:
            assert result.optimum is None
            continue
        assert result.optimum is not None
        assert same(result.optimum, feasible[result.optimum.node])
        best = min(found.loss for found in feasible.values())
        assert not best < result.optimum.loss - 1e-9
        assert_visited_nodes_agree(result.visited, feasible)


class StoppedClock(Clock):
    """Is over after so many questions; where a search looks for its start, never."""

    questions = 0

    def is_over(self) -> bool:
        """Count down."""
        if self._limit is None or self._limit < 1.0:
            return False
        self.questions -= 1
        return self.questions < 0


def stopped_search(
    table: Table, guarantees: Guarantees, loss: InformationLoss, limit: Decimal, *, after: int
) -> SearchResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "Clock", StoppedClock)
        patch.setattr(StoppedClock, "questions", after)
        return search(table, guarantees, loss, limit, time_limit=1.0)


@examples(settings(deadline=None), 150)
@given(st.data())
def test_no_node_loses_less_than_the_bound_of_a_search_that_was_stopped(
    data: st.DataObject,
) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    name, aggregate, gs = data.draw(st.sampled_from(MEASURES))
    loss = make_loss(name, aggregate=aggregate, gs=gs)
    for limit, most in itertools.product(LIMITS, (10**6, 0)):
        feasible = {found.node: found for found in feasible_nodes(table, guarantees, loss, limit)}
        best = min((float(found.loss) for found in feasible.values()), default=math.inf)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MOST_ENUMERATED", most)
            after = data.draw(st.integers(0, 30))
            result = stopped_search(table, guarantees, loss, limit, after=after)
        assert result.bound <= best + 2e-10
        if result.is_complete:
            assert result.bound == (math.inf if result.optimum is None else result.optimum.loss)
        if result.optimum is not None:
            assert same(result.optimum, feasible[result.optimum.node])
            assert result.bound <= float(result.optimum.loss)


@examples(settings(deadline=None), 80)
@given(st.data())
def test_a_stopped_search_is_no_worse_than_the_optimum_of_the_loss(data: st.DataObject) -> None:
    table = data.draw(tables())
    guarantees = compile_guarantees(data.draw(guarantees_for(table)), table)
    name, aggregate, gs = data.draw(st.sampled_from(MEASURES))
    loss = make_loss(name, aggregate=aggregate, gs=gs)
    for limit, most in itertools.product(LIMITS, (10**6, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MOST_ENUMERATED", most)
            at_hand = search(table, guarantees, make_loss("loss"), limit).optimum
            found = stopped_search(table, guarantees, loss, limit, after=0).optimum
        if at_hand is None or name == "loss":
            continue
        feasible = {known.node: known for known in feasible_nodes(table, guarantees, loss, limit)}
        assert found is not None
        assert float(found.loss) <= float(feasible[at_hand.node].loss) + 2e-10


def test_the_bound_of_a_stopped_search_tells_something() -> None:
    table = numbered_table(rows=1500, attributes=4)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 4}], table)
    loss = make_loss("loss")
    best = search(table, guarantees, loss, Decimal(0)).optimum
    assert best is not None
    bounds = [
        stopped_search(table, guarantees, loss, Decimal(0), after=after).bound
        for after in (0, 60, 80, 100)
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]
    assert bounds[-1] > 0.5 * best.loss


def same(found: CheckedNode, expected: CheckedNode) -> bool:
    """Compare two checks of a node up to rounding."""
    return (
        found.node == expected.node
        and (found.k, found.suppressed) == (expected.k, expected.suppressed)
        and math.isclose(found.loss, expected.loss, rel_tol=1e-9, abs_tol=2e-10)
    )


def assert_visited_nodes_agree(visited: VisitedNodes, feasible: dict[Any, CheckedNode]) -> None:
    excluded = [tuple(levels) for levels in visited.levels.tolist()]
    nodes = [*excluded, *(checked.node for checked in visited.checked)]
    assert len(set(nodes)) == len(nodes)
    for node, status in zip(excluded, visited.status, strict=True):
        assert status in {Status.INFEASIBLE, Status.PRUNED}
        assert status == Status.PRUNED or node not in feasible
    for checked in visited.checked:
        assert math.isfinite(checked.loss) == checked.is_feasible == (checked.node in feasible)
        if checked.is_feasible:
            assert checked.k == feasible[checked.node].k
            assert checked.suppressed == feasible[checked.node].suppressed


@examples(settings(deadline=None), 60)
@given(tables(), st.randoms(use_true_random=False))
def test_roll_up_gives_the_same_classes_as_plain_grouping(table: Table, random: Any) -> None:
    nodes = list(nodes_of(table))
    grouper = Grouper(table, nodes[0])
    for node in random.choices(nodes, k=12):
        found, expected = grouper.classes(node), classes_of(table, node)
        for name in ("codes", "records", "people", "first", "population"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        pairs = zip(
            (*found.values, *found.targets), (*expected.values, *expected.targets), strict=True
        )
        for counts, others in pairs:
            for name in ("classes", "values", "counts"):
                np.testing.assert_array_equal(getattr(counts, name), getattr(others, name), name)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("limit", ["0", "0.01", "0.1", "1"])
def test_few_of_many_nodes_are_checked_for_the_optimum(limit: str) -> None:
    table = numbered_table(rows=1500, attributes=4)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 4}], table)
    loss = make_loss("loss")
    result = search(table, guarantees, loss, Decimal(limit))
    feasible = feasible_nodes(table, guarantees, loss, Decimal(limit))
    assert result.optimum is not None
    assert result.optimum.loss == min(found.loss for found in feasible)
    assert result.checked < result.lattice_size / 3


ADULT = Path(os.environ.get("DBT_ANONYMIZE_DATA", "../shared/data")) / "adult"


@pytest.mark.sampled(1)
@pytest.mark.skipif(not ADULT.is_dir(), reason=f"needs the adult table: {ADULT}")
@pytest.mark.parametrize(
    ("limit", "node", "suppressed"),
    [
        ("0", (0, 4, 1, 1, 3, 2, 2, 1, 0), 0),
        ("0.05", (0, 3, 0, 0, 2, 1, 1, 2, 0), 1346),
        ("1", (0, 3, 0, 0, 2, 1, 1, 1, 0), 2553),
    ],
)
def test_the_optimum_of_adult_is_that_of_all_its_nodes(
    limit: str, node: tuple[int, ...], suppressed: int
) -> None:
    table = read_table(ADULT / "adult.csv", ADULT, "adult").grouped()
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    result = search(table, guarantees, make_loss("loss"), Decimal(limit))
    assert result.optimum is not None
    # Found once by grouping each of the 12,960 nodes.
    assert (result.optimum.node, result.optimum.suppressed) == (node, suppressed)
    assert result.checked < 1000


def wide_table(attributes: int, leaves: int, rows: int) -> Table:
    """Return a table whose packed labels do not fit into one word."""
    random = np.random.default_rng(5)
    levels = (np.arange(leaves), np.arange(leaves) // 8, np.zeros(leaves, dtype=np.int64))
    shares = tuple(np.bincount(level) / leaves for level in levels)
    attribute = Attribute("a", levels, shares, leaves, 1 / leaves)
    codes = random.integers(0, leaves, (rows, attributes))
    codes[rows // 2 :] = codes[: rows - rows // 2]
    codes, records = np.unique(codes, axis=0, return_counts=True)
    return Table((attribute,) * attributes, codes, records)


def test_labels_that_need_several_words_are_grouped_as_plainly() -> None:
    table = wide_table(attributes=12, leaves=256, rows=400)
    grouper = Grouper(table, (0,) * 12)
    for node in ((0,) * 12, (1,) * 12, (2, 1) * 6, (2,) * 11 + (0,), (2,) * 12):
        found, expected = grouper.classes(node), classes_of(table, node)
        np.testing.assert_array_equal(found.records, expected.records)
        np.testing.assert_array_equal(found.first, expected.first)


def test_more_than_a_million_nodes_give_a_feasible_node_at_once() -> None:
    table = wide_table(attributes=13, leaves=64, rows=200)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    reports: list[Progress] = []
    result = search(
        table,
        guarantees,
        make_loss("loss"),
        Decimal(1),
        time_limit=0.2,
        progress=reports.append,
    )
    assert result.lattice_size == 3**13
    assert not result.is_complete
    assert result.optimum is not None
    assert result.optimum.k >= 5
    assert reports[-1].best == result.optimum


def test_no_time_gives_the_top_node_of_a_large_lattice() -> None:
    table = wide_table(attributes=13, leaves=64, rows=200)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    result = search(table, guarantees, make_loss("loss"), Decimal(0), time_limit=0)
    assert result.optimum is not None
    assert result.optimum.node == (2,) * 13
    assert not result.is_complete


def test_level_bounds_outside_the_hierarchy_are_refused() -> None:
    table = wide_table(attributes=1, leaves=16, rows=20)
    inner = table.attributes[0]
    wrong = Attribute("a", inner.levels, inner.shares, 16, 1 / 16, lowest=2, highest=1)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    with pytest.raises(SearchError, match="levels of `a` must be two levels from 0 to 2"):
        search(
            Table((wrong,), table.leaves, table.records),
            guarantees,
            make_loss("loss"),
            Decimal(0),
        )
