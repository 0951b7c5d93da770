"""Repeated stratified hold-out: which records train and which test, and with which seed.

The split of a repetition depends on the random state of the spec, the number of the repetition and
the target in the order of the record key; on nothing else. So all efforts share it, which makes
their comparison paired.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """The records of one repetition by position in record-key order, ascending."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def seeds(random_state: int, repetition: int) -> tuple[int, int]:
    """Return the seeds of the split and of the model of a repetition.

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


def check_target(target: Codes, classes: int, test_share: float, name: str) -> None:
    """Raise if the target cannot be split by class.

    Parameters
    ----------
    target : array of int
        Class of each record, 0 .. ``classes`` - 1; negative where it is NULL.
    classes : int
        Number of classes.
    test_share : float
        Share of records that test, 0 < share < 1.
    name : str
        Column name of the target, for the message.

    Raises
    ------
    EvaluationError
        NULLs, fewer than two classes, a class of one record, or too few records for the share.
    """
    if not 0 < test_share < 1:
        raise EvaluationError(
            f"quality.test_share must be between 0 and 1; got {test_share}. Use 0.3, for example."
        )
    nulls = int((target < 0).sum())
    if nulls:
        raise EvaluationError(
            f"target `{name}` must be known for every record; got {nulls} NULL of {len(target)} "
            "records. Leave those records out of the source, or name another target."
        )
    if classes < 2:
        raise EvaluationError(
            f"target `{name}` must have at least 2 classes; got {classes} in {len(target)} "
            "records. Name a target that varies."
        )
    single = int((np.bincount(target, minlength=classes) < 2).sum())
    if single:
        raise EvaluationError(
            f"every class of target `{name}` must have at least 2 records, one to train and one "
            f"to test; got {single} of {classes} classes with fewer. Merge rare classes in the "
            "source, or name another target."
        )
    tests = math.ceil(test_share * len(target))
    if min(tests, len(target) - tests) < classes:
        raise EvaluationError(
            f"training and test records must be at least as many as the {classes} classes of "
            f"target `{name}`; got {len(target) - tests} and {tests}. Change quality.test_share "
            "or use more records."
        )


def split_records(target: Codes, test_share: float, seed: int) -> Split:
    """Draw the test records, in each class in proportion.

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
    from sklearn.model_selection import StratifiedShuffleSplit  # noqa: PLC0415

    splitter = StratifiedShuffleSplit(n_splits=1, test_size=test_share, random_state=seed)
    train, test = next(splitter.split(np.zeros(len(target), dtype=np.int8), target))
    return Split(train=np.sort(train), test=np.sort(test))
