"""Repeated hold-out and repeated k-fold.

The splits of a repetition depend only on the random state of the spec, the number of the
repetition, and the target and the subjects in the order of the record key. All efforts and models
share them, which makes their comparison paired.

All records of a subject are on the same side: a model would otherwise be tested on a person it has
seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Ints


@dataclass(frozen=True)
class Split:
    """The records of one split by position in record-key order, ascending."""

    train: Ints
    test: Ints


@dataclass(frozen=True)
class Splitting:
    """Splits of records: ``repetitions`` of a hold-out of ``test_share``, or of ``folds``.

    Examples
    --------
    >>> Splitting(repetitions=3, folds=5).splits
    15
    """

    repetitions: int
    test_share: float | None = None
    folds: int | None = None

    @property
    def splits(self) -> int:
        """Number of splits in all repetitions."""
        return self.repetitions * (self.folds or 1)

    @property
    def description(self) -> str:
        """The choice as a spec writes it."""
        return (
            f"quality.folds {self.folds}" if self.folds else f"quality.test_share {self.test_share}"
        )


def seeds(random_state: int, repetition: int) -> tuple[int, int]:
    """Return the seeds, below 2**32, of the splits and of the models of a repetition >= 1."""
    sequence = np.random.SeedSequence(entropy=random_state, spawn_key=(repetition,))
    split, model = sequence.generate_state(2)
    return int(split), int(model)


def draw_splits(
    splitting: Splitting, seed: int, *, records: int, strata: Ints | None, groups: Ints | None
) -> list[Split]:
    """Draw the splits of a repetition: one for a hold-out, or one per fold.

    ``seed`` is the first result of `seeds`. Each side gets each class of ``strata`` in proportion;
    None for a numeric target. ``groups`` are subjects, codes >= 0: none is on both sides, so
    proportions and the test share hold as far as whole subjects allow.
    """
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


def _hold_out_groups(share: float, seed: int, strata: Ints | None, groups: Ints) -> Split:
    """Draw whole groups until the share of records is reached, at the same pace from all strata.

    The groups of each stratum are shuffled, and each is placed at the middle of its records as a
    share of those of its stratum. Lower places test first.
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


def _strata_of_groups(member: Ints, strata: Ints) -> Ints:
    """Return for each group the class of which it holds the largest share.

    The most frequent class would not spread the few ill visits among many healthy ones.
    """
    classes = int(strata.max()) + 1
    pairs, counts = np.unique(member * classes + strata, return_counts=True)
    group, label = pairs // classes, pairs % classes
    share = counts / np.bincount(strata, minlength=classes)[label]
    order = np.lexsort((label, -share, group))
    first = np.unique(group[order], return_index=True)[1]
    return np.asarray(label[order][first], dtype=np.int64)


def _folds_of_groups(folds: int, seed: int, strata: Ints | None, groups: Ints) -> Ints:
    """Return the fold of each record, so that each class is spread as evenly as groups allow.

    Groups with equal numbers of records of each class are dealt evenly. The rest, fewer than
    ``folds`` of each kind, is placed one by one, the largest first, into the fold that shares least
    with it (sum over its classes of the product of both shares, which keeps the sum of squared
    shares low), then into the one with the fewest records. So no fold stays empty. scikit-learn
    places all groups one by one, by a slower rule.
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
    unplaced = _largest_first(member[~is_placed], classes[~is_placed], totals)
    for group, classes_of_group, counts_of_group in unplaced:
        shared = counts[:, classes_of_group] @ (counts_of_group / totals[classes_of_group] ** 2)
        fold[group] = np.lexsort((counts.sum(axis=1), shared))[0]
        counts[fold[group], classes_of_group] += counts_of_group
    return np.asarray(draws.permutation(folds)[fold][member], dtype=np.int64)


def _kinds_of_groups(member: Ints, of_class: Ints) -> Ints:
    """Return a code for each group, the same for groups with equal records of each class.

    ``of_class`` is a random number per class, by record; sums modulo 2**64 collide so rarely, and
    with so little harm, that collisions are ignored.
    """
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(int(member.max()) + 1))
    sums = np.add.reduceat(of_class.astype(np.uint64)[order], starts)
    return np.asarray(np.unique(sums, return_inverse=True)[1], dtype=np.int64)


def _largest_first(member: Ints, classes: Ints, totals: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield groups with their classes and records per class, by falling sum of squared shares."""
    pairs, held = np.unique(member * len(totals) + classes, return_counts=True)
    group, own = pairs // len(totals), pairs % len(totals)
    names, starts = np.unique(group, return_index=True)
    ends = np.append(starts, len(group))[1:]
    squares = np.bincount(group, weights=(held / totals[own]) ** 2)[names]
    for at in np.argsort(-squares, kind="stable").tolist():
        part = slice(starts[at], ends[at])
        yield int(names[at]), own[part], held[part]
