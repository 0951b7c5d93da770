"""Repeated hold-out and repeated k-fold: which records train and which test, with which seed.

The splits of a repetition depend on the random state of the spec, the number of the repetition, and
the target and the subjects in the order of the record key; on nothing else. So all efforts and
models share them, which makes their comparison paired.

Where a subject is declared, all records of a person are on the same side: a model that has seen a
person would otherwise be tested on what it remembers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """The records of one split by position in record-key order, ascending."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class Splitting:
    """How often and in which way records are split.

    Parameters
    ----------
    repetitions : int
        Number of independent draws, >= 1.
    test_share : float, optional
        Hold-out: share of records that test, 0 < share < 1.
    folds : int, optional
        k-fold: number of parts, each of which tests once per repetition, >= 2.

    Raises
    ------
    EvaluationError
        If a number is out of range, or not exactly one of ``test_share`` and ``folds`` is given.

    Examples
    --------
    >>> Splitting(repetitions=3, folds=5).splits
    15
    """

    repetitions: int
    test_share: float | None = None
    folds: int | None = None

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise EvaluationError(
                f"quality.repetitions must be >= 1; got {self.repetitions}. Use 100, for example."
            )
        if (self.test_share is None) == (self.folds is None):
            raise EvaluationError(
                "exactly one of quality.test_share and quality.folds must be given; got "
                f"{self.test_share} and {self.folds}. Remove or add one."
            )
        if self.test_share is not None and not 0 < self.test_share < 1:
            raise EvaluationError(
                f"quality.test_share must be between 0 and 1; got {self.test_share}. Use 0.3, for "
                "example."
            )
        if self.folds is not None and self.folds < 2:
            raise EvaluationError(
                f"quality.folds must be >= 2; got {self.folds}. Use 10, for example."
            )

    @property
    def splits(self) -> int:
        """Number of splits in all repetitions."""
        return self.repetitions * (self.folds or 1)

    @property
    def description(self) -> str:
        """The choice in the words of a spec."""
        return (
            f"quality.folds {self.folds}" if self.folds else f"quality.test_share {self.test_share}"
        )


def seeds(random_state: int, repetition: int) -> tuple[int, int]:
    """Return the seeds of the splits and of the models of a repetition.

    Parameters
    ----------
    random_state : int
        Of the spec, >= 0.
    repetition : int
        1 is the first.

    Returns
    -------
    tuple of int
        Two independent numbers below 2**32.
    """
    sequence = np.random.SeedSequence(entropy=random_state, spawn_key=(repetition,))
    split, model = sequence.generate_state(2)
    return int(split), int(model)


def draw_splits(
    splitting: Splitting,
    repetition: int,
    seed: int,
    *,
    records: int,
    strata: Codes | None,
    groups: Codes | None,
) -> list[Split]:
    """Draw the splits of a repetition.

    Parameters
    ----------
    splitting : Splitting
        Hold-out gives one split, k-fold as many as folds.
    repetition : int
        1 .. ``splitting.repetitions``.
    seed : int
        First result of ``seeds`` for that repetition.
    records : int
        Number of records; they are numbered in record-key order.
    strata : array of int, optional
        Class of each record: each side gets it in proportion. None for a target of numbers.
    groups : array of int >= 0, optional
        Code of the subject of each record: none is on both sides. Proportions, and the share of
        test records, are then kept as far as whole subjects allow.

    Returns
    -------
    list of Split
        Each is disjoint and complete; the test records of all folds together are all records.

    Raises
    ------
    EvaluationError
        If there is no such repetition.
    """
    if not 1 <= repetition <= splitting.repetitions:
        raise EvaluationError(
            f"repetition must be 1 to {splitting.repetitions}; got {repetition}. Correct it."
        )
    if groups is not None:
        if splitting.test_share is not None:
            return [_hold_out_groups(splitting.test_share, seed, strata, groups)]
        folds = _folds_of_groups(splitting.folds or 2, seed, strata, groups)
        return [
            Split(train=np.flatnonzero(folds != fold), test=np.flatnonzero(folds == fold))
            for fold in range(splitting.folds or 2)
        ]
    from sklearn import model_selection  # noqa: PLC0415

    rows = np.zeros(records, dtype=np.int8)
    splitter: model_selection.BaseCrossValidator
    if splitting.test_share is not None:
        shuffle = (
            model_selection.ShuffleSplit
            if strata is None
            else model_selection.StratifiedShuffleSplit
        )
        splitter = shuffle(n_splits=1, test_size=splitting.test_share, random_state=seed)
    else:
        kind = model_selection.KFold if strata is None else model_selection.StratifiedKFold
        splitter = kind(n_splits=splitting.folds, shuffle=True, random_state=seed)
    classes = np.zeros(records, dtype=np.int64) if strata is None else strata
    return [
        Split(train=np.sort(train), test=np.sort(test))
        for train, test in splitter.split(rows, classes)
    ]


def _hold_out_groups(share: float, seed: int, strata: Codes | None, groups: Codes) -> Split:
    """Draw whole groups until the share of records is reached, evenly from the strata.

    The groups of each stratum are put into random order, and each group at the middle of its
    records among those of its stratum, as a share. Groups that are placed lower test first, so
    that all strata are drawn from at the same pace.
    """
    _, member = np.unique(groups, return_inverse=True)
    sizes = np.bincount(member)
    stratum = np.zeros(len(sizes), dtype=np.int64)
    if strata is not None:
        stratum = _strata_of_groups(member, strata)
    draws = np.random.default_rng(seed)
    order = np.lexsort((draws.permutation(len(sizes)), stratum))
    ordered = sizes[order]
    in_stratum = np.bincount(stratum, weights=sizes)
    before = np.concatenate([[0.0], np.cumsum(in_stratum)])[stratum[order]]
    middle = (np.cumsum(ordered) - ordered / 2 - before) / in_stratum[stratum[order]]
    drawn = order[np.lexsort((draws.permutation(len(sizes)), middle))]
    reached = np.cumsum(sizes[drawn]) >= share * len(groups)
    count = min(int(np.argmax(reached)) + 1, len(sizes) - 1)
    is_test = np.isin(member, drawn[:count])
    return Split(train=np.flatnonzero(~is_test), test=np.flatnonzero(is_test))


def _strata_of_groups(member: Codes, strata: Codes) -> Codes:
    """Return for each group the class of which it holds the largest share of all records.

    Not its most frequent class: of people with many healthy and one ill visit, the ill visits are
    to be spread evenly.
    """
    classes = int(strata.max()) + 1
    pairs, counts = np.unique(member * classes + strata, return_counts=True)
    group, label = pairs // classes, pairs % classes
    share = counts / np.bincount(strata, minlength=classes)[label]
    order = np.lexsort((label, -share, group))
    first = np.unique(group[order], return_index=True)[1]
    return np.asarray(label[order][first], dtype=np.int64)


def _folds_of_groups(folds: int, seed: int, strata: Codes | None, groups: Codes) -> Codes:
    """Return the fold of each record, so that each class is spread as evenly as groups allow.

    Groups that hold the same number of records of each class are dealt evenly. What is left over,
    fewer than ``folds`` of each kind, is placed one by one, the largest first, into the fold with
    which it shares least: the sum over its classes of the product of both shares of the class,
    which keeps the sum of squared shares low; of several, into the one with the fewest records. So
    no fold stays empty. scikit-learn places all groups one by one, by a slower rule.
    """
    _, member = np.unique(groups, return_inverse=True)
    classes = np.zeros(len(groups), dtype=np.int64) if strata is None else strata
    totals = np.bincount(classes)
    draws = np.random.default_rng(seed)
    kinds = _kinds_of_groups(member, draws.integers(2**63, size=len(totals))[classes])
    sizes = np.bincount(kinds)
    order = np.lexsort((draws.permutation(len(kinds)), kinds))
    position = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[kinds[order]]
    fold = np.empty(len(kinds), dtype=np.int64)
    fold[order] = np.where(position < (sizes // folds * folds)[kinds[order]], position % folds, -1)
    is_placed = fold[member] >= 0
    cells = fold[member[is_placed]] * len(totals) + classes[is_placed]
    counts = np.bincount(cells, minlength=folds * len(totals)).reshape(folds, len(totals))
    left = _largest_first(member[~is_placed], classes[~is_placed], totals)
    for group, own, held in left:
        shared = counts[:, own] @ (held / totals[own] ** 2)
        fold[group] = np.lexsort((counts.sum(axis=1), shared))[0]
        counts[fold[group], own] += held
    return np.asarray(draws.permutation(folds)[fold][member], dtype=np.int64)


def _kinds_of_groups(member: Codes, of_class: Codes) -> Codes:
    """Return a code for each group, the same for groups with equal records of each class.

    ``of_class`` is a random number for each class, by record: the sums of two groups (modulo 2**64)
    are equal by accident so rarely, and with so little harm, that nothing is done about it.
    """
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(int(member.max()) + 1))
    sums = np.add.reduceat(of_class.astype(np.uint64)[order], starts)
    return np.asarray(np.unique(sums, return_inverse=True)[1], dtype=np.int64)


def _largest_first(
    member: Codes, classes: Codes, totals: Codes
) -> Iterator[tuple[int, Codes, Codes]]:
    """Yield groups with their classes and the records of each, by the sum of squared shares."""
    pairs, held = np.unique(member * len(totals) + classes, return_counts=True)
    group, own = pairs // len(totals), pairs % len(totals)
    names, starts = np.unique(group, return_index=True)
    ends = np.append(starts, len(group))[1:]
    squares = np.bincount(group, weights=(held / totals[own]) ** 2)[names]
    for at in np.argsort(-squares, kind="stable").tolist():
        part = slice(starts[at], ends[at])
        yield int(names[at]), own[part], held[part]


def split_records(target: Codes, test_share: float, seed: int) -> Split:
    """Draw the test records of one hold-out, in each class in proportion.

    Parameters
    ----------
    target : array of int
        Class of each record, in record-key order; checked by ``check_target``.
    test_share : float
        Share of records that test, rounded up to whole records.
    seed : int
        First result of ``seeds``.

    Returns
    -------
    Split
        Disjoint and complete.
    """
    hold_out = Splitting(repetitions=1, test_share=test_share)
    return draw_splits(hold_out, 1, seed, records=len(target), strata=target, groups=None)[0]
