"""Views of an effort in one split: training rows, and test rows in both forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.evaluation.data.closest import closest_rows
from dbt_anonymize.evaluation.data.design import class_means, used_rows
from dbt_anonymize.evaluation.data.spaces import Space, read_ends
from dbt_anonymize.evaluation.problem import EffortData, Problem
from dbt_anonymize.evaluation.splits import Split
from dbt_anonymize.evaluation.training import TrainingSet
from dbt_anonymize.privacy.grouping import distinct_rows

ORIGINAL, GENERALIZED = "original", "generalized"


@dataclass(frozen=True)
class RowsToPredict:
    """Distinct rows of test records.

    Attributes
    ----------
    test_on : tuple of str
        Forms of the test records: original, generalized, or both.
    rows : array of float, shape (distinct rows, features)
        NaN where a number is unknown; none in a `View`.
    place : array of int, shape (test records,)
        The row of each record.
    """

    test_on: tuple[str, ...]
    rows: Floats
    place: Ints


@dataclass(frozen=True)
class View:
    """The training set of an effort and the rows to predict, shared by all models.

    Untouched test records are the first test set. ``columns``: position of each feature's column,
    shape (features,); -1 for the constant feature. ``points`` are the rows of each inspection.
    """

    training: TrainingSet
    test_sets: tuple[RowsToPredict, ...]
    columns: Ints
    points: tuple[Floats, ...] = ()

    @cached_property
    def test_rows(self) -> Floats:
        """All rows to predict, below each other."""
        return np.vstack([test_set.rows for test_set in self.test_sets])


def make_view(
    problem: Problem,
    position: int,
    split: Split,
    released: Bools,
    *,
    space: str,
    per_split: bool,
    points: Sequence[Sequence[Ints]] = (),
) -> View:
    """Return the view of the effort at a position in a split.

    ``released`` flags the released training records, at least one. ``per_split``: class means and
    leaf frequencies come from the training records alone. ``points`` are records to predict for
    inspections, codes of the columns of the untouched effort.

    An untouched test record is read by its own values and the hierarchy, whatever its class,
    suppression and labels. Features that are constant over the training records are dropped: they
    teach nothing, and a raw value far from the constant would dominate models with a scale or a
    variance.
    """
    effort, untouched = problem.efforts[position], problem.efforts[0]
    records = split.train[released]
    counted = records if per_split else np.flatnonzero(~effort.suppressed)
    own = effort.own[space].weighted_by(counted)
    means = class_means(effort.design, records) if per_split else effort.means
    codes = effort.design.codes[records]
    if problem.keeps_suppressed and effort.design.hidden is not None:
        records = split.train
        codes = np.where(released, effort.design.codes[records], effort.design.hidden[records])
    used, place = used_rows(codes, effort.design.size)
    trained = effort.design.take(own, used, means)
    if position == 0:
        test_sets = [_rows_to_predict((ORIGINAL, GENERALIZED), effort, own, split.test)]
    else:
        test_sets = [_rows_to_predict((ORIGINAL,), untouched, effort.original[space], split.test)]
        if not effort.is_recoded and effort.targets is None:
            test_sets.append(_rows_to_predict((GENERALIZED,), effort, own, split.test, means))
    rows = [trained, *(each.rows for each in test_sets)]
    untouched_space = effort.original[space] if position else own
    rows += [_rows_of_codes(untouched_space, codes) if codes else trained[:0] for codes in points]
    read_ends(rows, own.ends)
    _fill_missing(rows, place, np.flatnonzero(own.scaled))
    varies = own.visible_features(effort.design.columns, used) & (trained != trained[0]).any(axis=0)
    features = np.flatnonzero(varies)
    rows = [_select_features(each, features) for each in rows]
    training = TrainingSet(rows[0], place, records, _select_flags(own.scaled, features))
    further = tuple(rows[1 + len(test_sets) :])
    test_sets = [replace(each, rows=r) for each, r in zip(test_sets, rows[1:], strict=False)]
    if position and effort.is_recoded:
        # Hidden records train, but stand for no test record.
        candidates = place[released] if len(place) == len(released) else place
        test_rows, _ = used_rows(untouched.design.codes[split.test], untouched.design.size)
        groups = _quasi_groups(effort, own, used), _quasi_groups(untouched, own, test_rows)
        test_sets.append(
            _generalize_by_closest(
                training, candidates, groups, _select_flags(own.quasi, features), test_sets[0]
            )
        )
    columns = np.repeat(np.arange(len(own.columns)), np.diff(own.starts))
    columns = columns[features] if len(features) else np.full(1, -1)
    return View(training, tuple(test_sets), columns, further)


def _rows_of_codes(space: Space, codes: Sequence[Ints]) -> Floats:
    """Return rows of codes, one per column."""
    return space.take(codes, np.arange(len(codes[0])))


def _fill_missing(rows: Sequence[Floats], place: Ints, numbers: Ints) -> None:
    """Replace each missing number, in place, by the median of the training records.

    ``rows[0]`` are the distinct training rows, ``place`` the row of each training record, and
    ``numbers`` the features that are numbers.
    """
    for feature in numbers:
        missing = [np.isnan(each[:, feature]) for each in rows]
        if not any(own.any() for own in missing):
            continue
        known = rows[0][place, feature]
        known = known[~np.isnan(known)]
        median = np.median(known) if len(known) else 0.0
        for each, own in zip(rows, missing, strict=True):
            each[own, feature] = median


def _select_features(rows: Floats, features: Ints) -> Floats:
    """Return some features of rows; a constant one if there are none, since models need one."""
    return rows[:, features] if len(features) else np.zeros((len(rows), 1))


def _select_flags(flags: Bools, features: Ints) -> Bools:
    return flags[features] if len(features) else np.zeros(1, dtype=np.bool_)


def _rows_to_predict(
    test_on: tuple[str, ...],
    effort: EffortData,
    space: Space,
    test: Ints,
    means: Floats | None = None,
) -> RowsToPredict:
    used, place = used_rows(effort.design.codes[test], effort.design.size)
    return RowsToPredict(test_on, effort.design.take(space, used, means), place)


def _quasi_groups(effort: EffortData, space: Space, rows: Ints) -> tuple[Ints, Ints]:
    """Return the first row of each combination of quasi-identifiers, and the group of each row."""
    columns = zip(effort.design.columns, space.is_quasi, strict=True)
    parts = [codes[rows] for codes, is_quasi in columns if is_quasi]
    if not parts:
        return np.zeros(1, dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    return distinct_rows(parts)


def _generalize_by_closest(
    training: TrainingSet,
    released: Ints,
    groups: tuple[tuple[Ints, Ints], tuple[Ints, Ints]],
    quasi: Bools,
    untouched: RowsToPredict,
) -> RowsToPredict:
    """Return untouched rows with the quasi-identifiers of the closest released training row.

    ``groups`` are the results of `_quasi_groups` for training rows and for untouched rows.
    """
    if not quasi.any():
        return RowsToPredict((GENERALIZED,), untouched.rows, untouched.place)
    (first, member), (wanted, of_row) = groups
    counts = np.bincount(member[released], minlength=len(first))
    is_released = counts > 0
    candidates = training.rows[first[is_released]][:, quasi]
    closest = closest_rows(untouched.rows[wanted][:, quasi], candidates, counts[is_released])
    rows = untouched.rows.copy()
    rows[:, quasi] = candidates[closest][of_row]
    return RowsToPredict((GENERALIZED,), rows, untouched.place)
