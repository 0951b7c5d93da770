"""The random splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold, StratifiedShuffleSplit

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.splits import (
    Split,
    Splitting,
    draw_splits,
    seeds,
)
from dbt_anonymize.evaluation.target_checks import check_numbers, check_target

pytestmark = pytest.mark.costly

HOLD_OUT = Splitting(repetitions=2, test_share=0.3)
FIVE_FOLDS = Splitting(repetitions=2, folds=5)


def strata_of(sizes: list[int]) -> np.ndarray:
    return np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))


def draw(splitting: Splitting, seed: int, **data: Any) -> list[Split]:
    return draw_splits(splitting, seed, **{"strata": None, "groups": None, **data})


def assert_disjoint_complete_and_ascending(split: Split, records: int) -> None:
    together = np.concatenate([split.train, split.test])
    assert np.array_equal(np.sort(together), np.arange(records))
    assert np.all(np.diff(split.train) > 0)
    assert np.all(np.diff(split.test) > 0)


@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(10, 30), min_size=2, max_size=3))
def test_a_split_is_disjoint_complete_and_has_every_class_in_proportion(
    seed: int, sizes: list[int]
) -> None:
    target = strata_of(sizes)
    (split,) = draw(HOLD_OUT, seed, records=len(target), strata=target)
    assert_disjoint_complete_and_ascending(split, len(target))
    tested = np.bincount(target[split.test], minlength=len(sizes))
    assert np.all(np.abs(tested - 0.3 * np.array(sizes)) <= 1)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_stratified_hold_out_is_that_of_scikit_learn(seed: int) -> None:
    target = strata_of([25, 14])
    (split,) = draw(HOLD_OUT, seed, records=39, strata=target)
    drawn = StratifiedShuffleSplit(n_splits=1, test_size=0.3, random_state=seed)
    train, test = next(drawn.split(target, target))
    assert np.array_equal(split.train, np.sort(train))
    assert np.array_equal(split.test, np.sort(test))


@given(seed=st.integers(0, 2**32 - 1), records=st.integers(10, 40))
def test_records_without_classes_are_held_out_by_their_share(seed: int, records: int) -> None:
    (split,) = draw(HOLD_OUT, seed, records=records)
    assert_disjoint_complete_and_ascending(split, records)
    assert len(split.test) == np.ceil(0.3 * records)


@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(5, 30), min_size=2, max_size=3))
def test_every_record_tests_in_one_fold_and_every_fold_has_every_class(
    seed: int, sizes: list[int]
) -> None:
    target = strata_of(sizes)
    splits = draw(FIVE_FOLDS, seed, records=len(target), strata=target)
    assert len(splits) == 5
    for split in splits:
        assert_disjoint_complete_and_ascending(split, len(target))
        tested = np.bincount(target[split.test], minlength=len(sizes))
        assert np.all(np.abs(tested - np.array(sizes) / 5) <= 1)
    tests = np.concatenate([split.test for split in splits])
    assert np.array_equal(np.sort(tests), np.arange(len(target)))


@pytest.mark.parametrize("has_strata", [True, False])
@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), subjects=st.integers(5, 30))
def test_no_subject_is_in_two_folds(has_strata: bool, seed: int, subjects: int) -> None:
    draws = np.random.default_rng(seed)
    groups = draws.permutation(
        np.concatenate([np.arange(subjects), draws.integers(0, subjects, 40)])
    )
    strata = strata_of([subjects, 40]) if has_strata else None
    splits = draw(FIVE_FOLDS, seed, records=len(groups), strata=strata, groups=groups)
    for split in splits:
        assert_disjoint_complete_and_ascending(split, len(groups))
        assert not set(groups[split.train]) & set(groups[split.test])
    tests = np.concatenate([split.test for split in splits])
    assert np.array_equal(np.sort(tests), np.arange(len(groups)))


def unevenness(tests: list[np.ndarray], strata: np.ndarray) -> float:
    """Return by how much the share of a class in a fold differs from its share, at most."""
    counts = np.stack([np.bincount(strata[test], minlength=strata.max() + 1) for test in tests])
    return float(np.abs(len(tests) * counts / np.bincount(strata) - 1).max())


@given(seed=st.integers(0, 2**32 - 1))
def test_subjects_with_the_same_records_are_dealt_evenly(seed: int) -> None:
    groups = np.repeat(np.arange(100), 3)
    is_ill = (np.arange(300) < 60).astype(np.int64)  # all records of 20 people
    for split in draw(FIVE_FOLDS, seed, records=300, strata=is_ill, groups=groups):
        assert np.bincount(is_ill[split.test]).tolist() == [48, 12]


@pytest.mark.parametrize(
    ("records", "subjects", "classes"), [(300, 80, 3), (2000, 400, 2), (2000, 300, 6)]
)
def test_folds_of_subjects_are_as_even_as_those_of_scikit_learn(
    records: int, subjects: int, classes: int
) -> None:
    ours, theirs = [], []
    for seed in range(5):
        draws = np.random.default_rng(seed)
        groups = (draws.pareto(2.0, records) * subjects / 5).astype(np.int64) % subjects
        shares = draws.dirichlet(np.ones(classes), subjects)
        strata = np.array([draws.choice(classes, p=shares[group]) for group in groups])
        own = draw(FIVE_FOLDS, seed, records=records, strata=strata, groups=groups)
        ours.append(unevenness([split.test for split in own], strata))
        known = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        theirs.append(unevenness([test for _, test in known.split(strata, strata, groups)], strata))
    assert np.mean(ours) <= np.mean(theirs)


def test_a_subject_with_most_records_leaves_no_fold_empty() -> None:
    groups = np.append(np.zeros(50, dtype=np.int64), np.arange(1, 5))
    splits = draw(FIVE_FOLDS, 1, records=54, groups=groups)
    assert sorted(len(split.test) for split in splits) == [1, 1, 1, 1, 50]


def test_folds_of_subjects_differ_by_seed_and_are_the_same_again() -> None:
    groups = np.arange(40) // 2
    drawn = [draw(FIVE_FOLDS, seed, records=40, groups=groups)[0].test for seed in (1, 2, 1)]
    assert not np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])


@pytest.mark.parametrize("has_strata", [True, False])
@given(
    seed=st.integers(0, 2**32 - 1),
    subjects=st.integers(2, 30),
    share=st.sampled_from([0.1, 0.3, 0.9]),
)
def test_whole_subjects_are_held_out_until_the_share_is_reached(
    has_strata: bool, seed: int, subjects: int, share: float
) -> None:
    draws = np.random.default_rng(seed)
    groups = draws.permutation(
        np.concatenate([np.arange(subjects), draws.integers(0, subjects, 40)])
    )
    strata = strata_of([subjects, 40]) if has_strata else None
    splitting = Splitting(repetitions=1, test_share=share)
    (split,) = draw(splitting, seed, records=len(groups), strata=strata, groups=groups)
    assert_disjoint_complete_and_ascending(split, len(groups))
    tested = np.unique(groups[split.test])
    assert not set(groups[split.train]) & set(tested)
    assert 1 <= len(tested) < subjects
    needed, largest = share * len(groups), np.bincount(groups)[tested].max()
    assert len(split.test) - largest < needed
    assert len(split.test) >= needed or len(tested) == subjects - 1


@given(seed=st.integers(0, 2**32 - 1))
def test_classes_of_subjects_are_held_out_in_proportion(seed: int) -> None:
    groups = np.arange(60)
    strata = strata_of([30, 20, 10])
    (split,) = draw(HOLD_OUT, seed, records=60, strata=strata, groups=groups)
    assert np.bincount(strata[split.test]).tolist() == [9, 6, 3]


@given(seed=st.integers(0, 2**32 - 1))
def test_ill_visits_of_mostly_healthy_people_are_held_out_in_proportion(seed: int) -> None:
    visits = np.repeat(np.arange(100), 5)
    is_ill = (np.arange(500) % 5 == 0) & (visits < 10)
    (split,) = draw(HOLD_OUT, seed, records=500, strata=is_ill.astype(np.int64), groups=visits)
    assert is_ill[split.test].sum() == 3
    assert len(split.test) == 150


def test_held_out_subjects_differ_by_seed_and_are_the_same_again() -> None:
    groups = np.arange(40)
    drawn = [draw(HOLD_OUT, seed, records=40, groups=groups)[0].test for seed in (1, 2, 1)]
    assert not np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])
    tested = np.zeros(40)
    for seed in range(200):
        tested[draw(HOLD_OUT, seed, records=40, groups=groups)[0].test] += 1
    assert np.all(np.abs(tested - 60) < 30)  # nobody is preferred: 4.6 standard deviations


def test_repetitions_and_random_states_draw_differently_and_again_the_same() -> None:
    drawn = [seeds(state, repetition) for state in (1, 2) for repetition in (1, 2, 3)]
    assert len({seed for pair in drawn for seed in pair}) == 12
    assert drawn == [seeds(state, repetition) for state in (1, 2) for repetition in (1, 2, 3)]


def test_the_number_of_splits_counts_folds() -> None:
    assert HOLD_OUT.splits == 2
    assert FIVE_FOLDS.splits == 10


@pytest.mark.parametrize(
    ("target", "classes", "splitting", "rule"),
    [
        ([0, 0, 0, 0], 1, HOLD_OUT, "at least 2 classes; got 1"),
        ([0, 0, 0, 0, 1], 2, HOLD_OUT, "one to train and one to test; got 1 of 2 classes"),
        ([0, 0, 1, 1, 2, 2], 3, HOLD_OUT, "got 4 and 2"),
        ([0] * 9 + [1] * 4, 2, FIVE_FOLDS, "at least 5 records, one to each fold; got 1 of 2"),
    ],
)
def test_a_target_that_cannot_be_split_is_refused(
    target: list[int], classes: int, splitting: Splitting, rule: str
) -> None:
    with pytest.raises(EvaluationError, match=rule):
        check_target(np.array(target), classes, splitting, "label")


@pytest.mark.parametrize(
    ("subjects", "splitting", "rule"),
    [
        ([7] * 20, HOLD_OUT, "subjects must be at least 2.*test_share 0.3; got 1"),
        ([1, 2, 3, 4] * 5, FIVE_FOLDS, "subjects must be at least 5.*folds 5; got 4"),
        ([1, 2, 3, 4, 5] * 2 + [6] * 10, FIVE_FOLDS, "at least 2 subjects.*got 1 of 2 classes"),
    ],
)
def test_subjects_that_cannot_be_split_are_refused(
    subjects: list[int], splitting: Splitting, rule: str
) -> None:
    target = np.repeat([0, 1], 10)
    check_target(target, 2, splitting, "label", groups=np.arange(20))
    with pytest.raises(EvaluationError, match=rule):
        check_target(target, 2, splitting, "label", groups=np.array(subjects))


@pytest.mark.parametrize(
    ("values", "splitting", "rule"),
    [
        ([2.0] * 20, HOLD_OUT, "at least 2 values"),
        ([1.0, 2.0, 3.0], HOLD_OUT, "got 2 and 1"),
        ([float(n) for n in range(9)], FIVE_FOLDS, "got 7 and 1"),
    ],
)
def test_numbers_that_cannot_be_split_are_refused(
    values: list[float], splitting: Splitting, rule: str
) -> None:
    with pytest.raises(EvaluationError, match=rule):
        check_numbers(np.array(values), splitting, "charges")


def test_numbers_of_too_few_subjects_are_refused() -> None:
    check_numbers(np.arange(20.0), FIVE_FOLDS, "charges", groups=np.arange(20) % 5)
    with pytest.raises(EvaluationError, match="got 4"):
        check_numbers(np.arange(20.0), FIVE_FOLDS, "charges", groups=np.arange(20) % 4)
