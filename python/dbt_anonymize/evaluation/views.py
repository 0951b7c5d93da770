"""What a model sees of an effort in one split: training rows, and the test rows in both forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.evaluation.closest import closest_rows
from dbt_anonymize.evaluation.design import (
    Codes,
    Design,
    Floats,
    class_means,
    filled,
    training_medians,
    used_rows,
    with_leaf_counts,
)
from dbt_anonymize.evaluation.problem import Problem
from dbt_anonymize.evaluation.splits import Split
from dbt_anonymize.evaluation.training import TrainingSet

ORIGINAL, GENERALIZED = "original", "generalized"


@dataclass(frozen=True)
class Asked:
    """Distinct rows of test records.

    Attributes
    ----------
    test_on : tuple of str
        Which forms of the test records they are: original, generalized, or both.
    rows : array of float, shape (distinct rows, features)
        Without missing values.
    place : array of int, shape (test records,)
        The row of each record.
    """

    test_on: tuple[str, ...]
    rows: Floats
    place: Codes


@dataclass(frozen=True)
class View:
    """The training set of an effort, and what is asked; both are shared by all models."""

    training: TrainingSet
    asked: tuple[Asked, ...]

    @property
    def test_rows(self) -> Floats:
        """All rows that are asked, below each other."""
        return np.vstack([asked.rows for asked in self.asked])


def make_view(
    problem: Problem,
    position: int,
    split: Split,
    released: NDArray[np.bool_],
    *,
    per_split: bool,
) -> View | None:
    """Return what models see of an effort in a split.

    Parameters
    ----------
    problem : Problem
        All that is evaluated.
    position : int
        Of the effort.
    split : Split
        Of the records.
    released : array of bool, shape (training records,)
        Which training records are released.
    per_split : bool
        Whether class means and frequencies of leaves are those of the training records alone.

    Returns
    -------
    View or None
        None if nothing can be learned: no training record is released.

    Notes
    -----
    A feature that is constant over the training records tells a model nothing. Test rows get the
    constant too: else a raw value far from it decides what models with a scale or a variance
    predict. Where untouched values are not known, leaves weigh as in the training rows.
    """
    effort = problem.efforts[position]
    records = split.train[released]
    if not len(records):
        return None
    counted = records if per_split else np.flatnonzero(~effort.suppressed)
    design = with_leaf_counts(effort.design, counted)
    numbers = class_means(design, records) if per_split else effort.numbers
    codes = design.codes[records]
    if problem.keeps_suppressed and design.hidden is not None:
        records = split.train
        codes = np.where(released, design.codes[records], design.hidden[records])
    used, place = used_rows(codes, design.size)
    rows = design.take(used, numbers)
    medians = training_medians(rows, place, design.incomplete)
    training = TrainingSet(filled(rows, medians), place, records)
    if position == 0:
        forms = (ORIGINAL, GENERALIZED) if problem.has_original else (GENERALIZED,)
        asked = [_asked(forms, design, split.test, medians)]
        return View(training, _with_constants(asked, training.rows))
    untouched = with_leaf_counts(problem.efforts[0].design, counted)
    asked = []
    if problem.has_original:
        asked.append(_asked((ORIGINAL,), untouched, split.test, medians))
    if effort.is_recoded:
        asked.append(_closest(design, effort.numbers, split.train[released], asked[0]))
    else:
        asked.append(_asked((GENERALIZED,), design, split.test, medians, numbers))
    return View(training, _with_constants(asked, training.rows))


def _with_constants(asked: Sequence[Asked], trained: Floats) -> tuple[Asked, ...]:
    """Return test rows with features that are constant in the training rows set to the constant."""
    is_constant = (trained == trained[0]).all(axis=0)
    if not is_constant.any():
        return tuple(asked)
    return tuple(replace(each, rows=np.where(is_constant, trained[0], each.rows)) for each in asked)


def _asked(
    test_on: tuple[str, ...],
    design: Design,
    test: Codes,
    medians: Floats,
    numbers: Floats | None = None,
) -> Asked:
    used, place = used_rows(design.codes[test], design.size)
    return Asked(test_on, filled(design.take(used, numbers), medians), place)


def _closest(design: Design, numbers: Floats | None, released: Codes, untouched: Asked) -> Asked:
    """Return untouched rows with the quasi-identifiers of the closest released training row."""
    quasi = design.quasi
    if not quasi.any():
        return Asked((GENERALIZED,), untouched.rows, untouched.place)
    used, place = used_rows(design.codes[released], design.size)
    rows = design.take(used, numbers)
    candidates, member = np.unique(rows[:, quasi], axis=0, return_inverse=True)
    counts = np.bincount(member[place], minlength=len(candidates))
    wanted, of_row = np.unique(untouched.rows[:, quasi], axis=0, return_inverse=True)
    rows = untouched.rows.copy()
    rows[:, quasi] = candidates[closest_rows(wanted, candidates, counts)][of_row]
    return Asked((GENERALIZED,), rows, untouched.place)
