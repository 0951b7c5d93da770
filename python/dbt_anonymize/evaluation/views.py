"""What a model sees of an effort in one split: training rows, and the test rows in both forms."""

from __future__ import annotations

from dataclasses import dataclass

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
)
from dbt_anonymize.evaluation.problem import EffortData, Problem
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
    has_own_means: bool,
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
    has_own_means : bool
        Whether class means are those of the training records alone.

    Returns
    -------
    View or None
        None if nothing can be learned: no training record is released.
    """
    effort = problem.efforts[position]
    design, records = effort.design, split.train[released]
    if not len(records):
        return None
    numbers = class_means(design, records) if has_own_means else effort.numbers
    codes = design.codes[records]
    if problem.keeps_suppressed and design.hidden is not None:
        records = split.train
        codes = np.where(released, design.codes[records], design.hidden[records])
    used, place = used_rows(codes, design.size)
    rows = design.take(used, numbers)
    medians = training_medians(rows, place, design.incomplete)
    training = TrainingSet(filled(rows, medians), place, records)
    untouched = problem.efforts[0].design
    if position == 0:
        forms = (ORIGINAL, GENERALIZED) if problem.has_original else (GENERALIZED,)
        return View(training, (_asked(forms, untouched, split.test, medians),))
    asked = []
    if problem.has_original:
        asked.append(_asked((ORIGINAL,), untouched, split.test, medians))
    if effort.is_recoded:
        asked.append(_closest(effort, split.train[released], asked[0]))
    else:
        asked.append(_asked((GENERALIZED,), design, split.test, medians, numbers))
    return View(training, tuple(asked))


def _asked(
    test_on: tuple[str, ...],
    design: Design,
    test: Codes,
    medians: Floats,
    numbers: Floats | None = None,
) -> Asked:
    used, place = used_rows(design.codes[test], design.size)
    return Asked(test_on, filled(design.take(used, numbers), medians), place)


def _closest(effort: EffortData, released: Codes, untouched: Asked) -> Asked:
    """Return untouched rows with the quasi-identifiers of the closest released training row."""
    quasi = effort.design.quasi
    if not quasi.any():
        return Asked((GENERALIZED,), untouched.rows, untouched.place)
    used, place = used_rows(effort.design.codes[released], effort.design.size)
    rows = effort.design.take(used, effort.numbers)
    candidates, member = np.unique(rows[:, quasi], axis=0, return_inverse=True)
    counts = np.bincount(member[place], minlength=len(candidates))
    wanted, of_row = np.unique(untouched.rows[:, quasi], axis=0, return_inverse=True)
    rows = untouched.rows.copy()
    rows[:, quasi] = candidates[closest_rows(wanted, candidates, counts)][of_row]
    return Asked((GENERALIZED,), rows, untouched.place)
