"""Alternatives get back the detail that classes leave room for, as long as models do as well."""

from __future__ import annotations

from dbt_anonymize.extensions.search.race import SPLITS, Budget
from dbt_anonymize.extensions.trial.settling import settle
from tests.extensions.search.test_detail import search_of, townspeople


def test_the_smallest_classes_get_detail_back_though_the_race_gave_up_more_there() -> None:
    search, track = search_of(townspeople(), lambda node: 0.8 if node[0] == 0 else 0.5)
    search.run([5, 10])
    coarse, fine = (search.candidates.of(node, k) for node, k in (((0, 2), 5), ((0, 1), 10)))
    assert coarse is not None
    assert fine is not None
    search._raced_by_size = {5: [coarse], 10: [fine]}
    assert search.loss(coarse) > search.loss(fine)
    ((names, one), *_) = settle(search, track, [5, 10], Budget()).chosen
    assert (names[0], one.required, one.checked.node) == ("more-use", 5, (0, 0))


def test_what_is_given_back_is_chosen() -> None:
    """Models need nothing of zip, so that the race prefers larger classes without it."""
    search, track = search_of(townspeople(), lambda node: 0.8 if node[0] == 0 else 0.5)
    search.run([10])
    assert search.winners[0].checked.node == (0, 2)
    ((_, one),) = settle(search, track, [10], Budget()).chosen
    assert one.checked.node == (0, 1)


def test_what_is_chosen_is_trained_on_all_splits_and_chosen_again() -> None:
    """Of fewer splits a score may promise what more of them do not keep."""
    search, track = search_of(townspeople(), lambda node: 0.8 if node[0] == 0 else 0.5)
    search.run([5, 10])
    choice = settle(search, track, [5, 10], Budget())
    assert {track.splits(one) for _, one in choice.chosen} == {SPLITS}
