"""Detail that classes leave room for is given back, as long as models do as well."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.detail import give_back, with_detail
from dbt_anonymize.extensions.search.race import EQUAL, FEWEST_SPLITS, SPLITS, Budget
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Node, Table
from tests.extensions.search.test_guided import predicted
from tests.extensions.search.test_reasons import LIMIT, Score, Scored, people
from tests.sampling import examples
from tests.worlds.coded import tables


def townspeople() -> Table:
    """Return people whose labels cover as much as they have leaves, so that levels cost detail."""
    table = people(2)
    attributes = [
        replace(attribute, shares=tuple(one / len(one) for one in attribute.shares))
        for attribute in table.attributes
    ]
    return replace(table, attributes=tuple(attributes))


def search_of(
    table: Table, score: Score, limit: Decimal = Decimal(0)
) -> tuple[QualitySearch, Scored]:
    """Return a search of a table in which levels have scores, and nothing is trained."""
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    track = Scored(None, None, [], score=score)  # type: ignore[arg-type]
    return QualitySearch(table, guarantees, limit, track=track, budget=Budget()), track


@pytest.mark.parametrize(
    ("k", "score", "evaluations", "expected"),
    [
        (10, lambda _: 0.7, None, [(0, 1)]),
        (5, lambda _: 0.7, None, [(0, 0)]),
        # Classes of 20 leave no room.
        (20, lambda _: 0.7, None, []),
        # Models may lose 3 % of what they gain over 0.5, and chance less; else half of the steps
        # are tried.
        (5, lambda node: 0.7 - 0.0055 * (node == (0, 0)), None, [(0, 0)]),
        (5, lambda node: 0.7 - 0.0065 * (node == (0, 0)), None, [(0, 1)]),
        (5, lambda node: 0.52 - EQUAL / 2 * (node == (0, 0)), None, [(0, 0)]),
        (5, lambda node: 0.7 - EQUAL / 2 * (node == (0, 0)), None, [(0, 0)]),
        (5, lambda node: 0.7 - 0.1 * (node == (0, 0)), None, [(0, 1)]),
        (5, lambda node: 0.7 - 0.1 * (node[0] == 0), None, []),
        # What is not trained on enough splits is not shown.
        (10, lambda _: 0.7, 2 * FEWEST_SPLITS - 1, []),
        (10, lambda _: 0.7, 2 * SPLITS, [(0, 1)]),
    ],
)
def test_columns_are_given_back_as_far_as_classes_and_models_allow(
    k: int, score: Score, evaluations: int | None, expected: list[Node]
) -> None:
    search, track = search_of(townspeople(), score)
    one = search.candidates.of((1, 1), k)
    assert one is not None
    found = give_back(search, track, one, Budget(evaluations=evaluations))
    assert [(finer.checked.node, finer.required) for finer in found] == [
        (node, k) for node in expected
    ]


@pytest.mark.parametrize(
    ("budget", "is_timed"),
    [(Budget(seconds=4.0), True), (Budget(evaluations=4), False), (Budget(), False)],
)
def test_time_that_ends_a_part_of_a_search_is_told(budget: Budget, is_timed: bool) -> None:
    search, track = search_of(townspeople(), lambda _: 0.7)
    one = search.candidates.of((1, 1), 10)
    assert one is not None
    part = budget.share(0.5)
    track.advance([one], range(SPLITS), part)
    assert part.is_spent == (budget != Budget())
    budget.pay(part)
    assert not budget.is_spent
    assert budget.is_timed == is_timed


@examples(settings(deadline=None), 60)
@given(st.data())
def test_no_feasible_finer_node_loses_less(data: st.DataObject) -> None:
    table = predicted(data, data.draw(tables()))[0]
    search, track = search_of(table, lambda _: 0.7, LIMIT)
    heights = [attribute.height for attribute in table.attributes]
    node = tuple(data.draw(st.integers(0, height)) for height in heights)
    before = search.candidates.of(node, 3)
    if before is None:
        return
    (after,) = give_back(search, track, before, Budget()) or [before]
    assert after.required == before.required
    assert search.loss(after) <= search.loss(before)
    assert all(a <= b for a, b in zip(after.checked.node, node, strict=True))
    lowest = search.candidates.lattice.lowest
    for axis, level in enumerate(after.checked.node):
        nearest = (*after.checked.node[:axis], level - 1, *after.checked.node[axis + 1 :])
        finer = search.candidates.of(nearest, 3) if level > lowest[axis] else None
        assert finer is None or search.loss(finer) >= search.loss(after)


def efforts_of(score: Score, *sizes: int) -> list[tuple[int, Node]]:
    """Return class size and levels of the efforts that a search finds."""
    search, track = search_of(townspeople(), score)
    search.run(sizes)
    search.settle(with_detail(search, track, search.winner_by_size, Budget()))
    return [(one.required, one.checked.node) for one in search.winners]


def test_smaller_classes_that_keep_more_detail_are_efforts() -> None:
    """Models do as well on larger classes, so that a race alone keeps nothing else."""
    assert efforts_of(lambda _: 0.7, 5, 10) == [(5, (0, 0)), (10, (0, 1))]
    assert [k for k, _ in efforts_of(lambda _: 0.7, 5, 10, 20)] == [5, 10, 20]


def test_smaller_classes_that_keep_nothing_more_are_none() -> None:
    assert efforts_of(lambda _: 0.7, 2, 5) == [(5, (0, 0))]
    # Models lose too much on finer levels than those of larger classes.
    assert efforts_of(lambda node: 0.8 - 0.2 * (node[1] < 1), 5, 10) == [(10, (0, 1))]


@pytest.mark.parametrize(("loss", "node"), [(0.0085, (0, 0)), (0.0095, (0, 1))])
def test_models_keep_97_percent_of_their_gain(loss: float, node: Node) -> None:
    assert efforts_of(lambda at: 0.8 - loss * (at == (0, 0)), 5) == [(5, node)]


def test_without_a_budget_nothing_is_trained_for_detail() -> None:
    search, track = search_of(townspeople(), lambda _: 0.7)
    search.run([5, 10])
    asked = [*track.asked]
    for k, one in with_detail(search, track, search.winner_by_size, Budget(seconds=0)).items():
        assert one in search.raced(k)
    assert track.asked == asked


def test_what_is_chosen_is_trained_on_all_splits() -> None:
    """Of fewer splits a score may promise what more of them do not keep."""
    search, track = search_of(townspeople(), lambda _: 0.7)
    search.run([5, 10, 20])
    settled = with_detail(search, track, search.winner_by_size, Budget())
    assert {track.splits(one) for one in settled.values()} == {SPLITS}
