"""Candidates that are proposed as more use, balanced and more privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search.by_quality import WinnerScores
from dbt_anonymize.extensions.search.race import Candidate
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.extensions.trial.choice import SHARES, Choice
from tests.sampling import examples

UNTOUCHED, ZERO_RULE = 0.8, 0.5


@dataclass(frozen=True)
class Scripted:
    """A search that is over: by class size, the candidates with score, loss and splits.

    ``reached`` has the classes that a candidate reaches, if larger than those that it requires.
    """

    found: Mapping[int, Sequence[tuple[float, float, int]]]
    reached: Mapping[tuple[int, ...], int] = field(default_factory=dict)

    def raced(self, k: int) -> list[Candidate]:
        """Return candidates whose levels name them."""
        nobody = np.zeros(0, dtype=np.int64)
        return [
            Candidate(
                CheckedNode((k, place), self.reached.get((k, place), k), 0, 0.0, is_feasible=True),
                *(k, nobody > 0, nobody),
            )
            for place in range(len(self.found.get(k, ())))
        ]

    def of(self, candidate: Candidate) -> tuple[float, float, int]:
        """Return what is known of a candidate."""
        k, place = candidate.checked.node
        return self.found[k][place]

    def loss(self, candidate: Candidate) -> float:
        """Return its loss."""
        return self.of(candidate)[1]

    def scored(self, candidate: Candidate) -> WinnerScores:
        """Return its scores."""
        score, _, splits = self.of(candidate)
        return WinnerScores(score, UNTOUCHED, ZERO_RULE, (-1.0, 1.0), splits)


def chosen(
    found: Mapping[int, Sequence[tuple[float, float, int]]], *, settled: bool = False
) -> dict[str, Candidate]:
    """Return the alternatives by their names."""
    search = Scripted(found)
    pools = {k: search.raced(k) for k in found}
    everything = [one for pool in pools.values() for one in pool] if settled else None
    choice = Choice(search, pools, everything)  # type: ignore[arg-type]
    return {name: one for names, one in choice.chosen for name in names}


def test_an_alternative_that_falls_below_its_promise_is_none() -> None:
    """Scores change with further splits, and detail that is left is no excuse."""
    found = chosen({5: [(0.74, 0.3, 14)], 10: [(0.8, 0.5, 14)]}, settled=True)
    assert {one.checked.node for one in found.values()} == {(10, 0)}


def test_no_alternative_is_dominated() -> None:
    """More privacy with more detail and as good models is better than balanced."""
    sizes = {5: [(0.8, 0.3, 14)], 10: [(0.775, 0.7, 14)], 20: [(0.775, 0.65, 14)]}
    assert chosen(sizes)["balanced"].checked.node == (10, 0)
    assert chosen(sizes, settled=True)["balanced"].checked.node == (20, 0)


def test_more_use_keeps_the_detail_that_models_do_not_miss() -> None:
    """The winner of a race has two columns: as good for models, and useless for others."""
    found = chosen({5: [(0.81, 0.9, 14), (0.795, 0.3, 14), (0.7, 0.2, 14), (0.8, 0.1, 1)]})
    assert {one.checked.node for one in found.values()} == {(5, 1)}


def test_of_a_class_size_nothing_is_taken_that_is_far_from_the_best_of_it() -> None:
    """To lose less and keep enough of the untouched table is not enough."""
    found = chosen({5: [(0.8, 0.9, 14)], 10: [(0.795, 0.92, 14), (0.78, 0.6, 14)]})
    assert found["more-privacy"].checked.node == (10, 0)


def test_balanced_is_between_the_others_and_privacy_is_the_largest_class_size() -> None:
    found = chosen(
        {
            5: [(0.8, 0.2, 14)],
            10: [(0.79, 0.4, 14)],
            20: [(0.785, 0.5, 14)],
            50: [(0.78, 0.75, 14)],
            100: [(0.75, 0.8, 14)],
            200: [(0.6, 0.9, 14)],
        }
    )
    assert {name: one.required for name, one in found.items()} == {
        "more-use": 5,
        "balanced": 20,
        "more-privacy": 100,
    }


def test_where_models_do_best_without_detail_they_need_not_do_as_well() -> None:
    """The untouched table sets what is enough, not the best of all."""
    found = chosen(
        {5: [(0.9, 0.9, 14), (0.795, 0.3, 14)], 10: [(0.88, 0.95, 14), (0.795, 0.5, 14)]}
    )
    assert found["more-use"].checked.node == (5, 1)
    assert found["more-privacy"].checked.node == (10, 1)


def test_a_table_of_which_little_is_left_is_compared_with_the_best_of_it() -> None:
    found = chosen({5: [(0.6, 0.6, 14), (0.55, 0.5, 14)], 10: [(0.58, 0.7, 14)]})
    assert found["more-use"].checked.node == (5, 0)
    assert found["more-privacy"].checked.node == (10, 0)


def test_without_time_to_train_the_first_of_the_smallest_size_is_all() -> None:
    found = chosen({5: [(np.nan, 0.6, 0), (np.nan, 0.5, 0)], 10: [(np.nan, 0.7, 0)]})
    assert {one.checked.node for one in found.values()} == {(5, 0)}


score = st.tuples(st.floats(0.4, 0.9), st.floats(0.0, 1.0), st.sampled_from([1, 4, 14]))


@examples(settings(deadline=None), 500)
@given(st.dictionaries(st.sampled_from([5, 10, 20, 50]), st.lists(score, min_size=1), min_size=1))
def test_three_names_go_from_weak_to_strong(
    found: dict[int, list[tuple[float, float, int]]],
) -> None:
    search = Scripted(found)
    alternatives = Choice(search, {k: search.raced(k) for k in found}).chosen  # type: ignore[arg-type]
    assert [name for names, _ in alternatives for name in names] == [
        "more-use",
        "balanced",
        "more-privacy",
    ]
    sizes = [one.required for _, one in alternatives]
    assert sizes == sorted(sizes)
    keys = [one.checked.node for _, one in alternatives]
    assert len(set(keys)) == len(keys)


def test_what_is_enough_is_set_by_the_best_of_all_that_was_found() -> None:
    """Further splits may show that another one than the winner of a race is the best."""
    found = chosen({5: [(0.7, 0.5, 14), (0.78, 0.6, 14)], 10: [(0.69, 0.4, 14)]})
    assert {one.checked.node for one in found.values()} == {(5, 1)}


trained = st.tuples(st.floats(0.51, 0.9), st.floats(0.0, 1.0), st.sampled_from([4, 14]))


@examples(settings(deadline=None), 500)
@given(
    st.dictionaries(st.sampled_from([5, 10, 20, 50]), st.lists(trained, min_size=1), min_size=1),
    st.data(),
)
def test_each_alternative_keeps_its_share_of_the_best_that_was_found_or_of_untouched(
    found: dict[int, list[tuple[float, float, int]]], data: st.DataObject
) -> None:
    search = Scripted(found)
    pools = {k: search.raced(k) for k in found}
    everything = [one for pool in pools.values() for one in pool]
    settled = data.draw(st.none() | st.lists(st.sampled_from(everything), min_size=1))
    choice = Choice(search, pools, settled)  # type: ignore[arg-type]
    best = min(max(search.of(one)[0] for one in everything), UNTOUCHED) - ZERO_RULE
    assert min(choice.best_gain, UNTOUCHED - ZERO_RULE) == best
    for names, one in choice.chosen:
        wanted = max(SHARES[name] for name in names)
        assert search.of(one)[0] - ZERO_RULE >= wanted * best


@pytest.mark.parametrize(("score", "expected"), [(0.785, (20, 0)), (0.75, (10, 0))])
def test_more_privacy_has_no_smaller_classes_than_balanced(
    score: float, expected: tuple[int, int]
) -> None:
    """Classes of 30 are more private than those of 28, of which 20 are required."""
    found = {5: [(0.8, 0.2, 14)], 10: [(0.79, 0.5, 14)], 20: [(score, 0.8, 14)]}
    search = Scripted(found, {(10, 0): 30, (20, 0): 28})
    choice = Choice(search, {k: search.raced(k) for k in found})  # type: ignore[arg-type]
    assert [(names, one.checked.node) for names, one in choice.chosen] == [
        (("more-use",), (5, 0)),
        (("balanced", "more-privacy"), expected),
    ]
