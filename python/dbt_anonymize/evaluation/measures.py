"""Measures of a classification, each computed from the counts of (true class, predicted class).

Undefined ratios are 0.0, as in scikit-learn: a model that never predicts the positive class gets
no precision for it, so that an effort cannot win by not answering. ``balanced_accuracy`` is the
mean recall over the classes that occur among the test records.
With more than two classes, precision, recall and f1 are those of the positive class against all
others.

References
----------
.. [1] Sokolova, Lapalme 2009, Information Processing & Management 45(4):427-437.
.. [2] Brodersen et al. 2010, ICPR, 3121-3124 (balanced accuracy).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def confusion_counts(true: NDArray[np.int64], predicted: NDArray[np.int64], classes: int) -> Counts:
    """Count records by true and predicted class.

    Parameters
    ----------
    true, predicted : array of int, same length
        Codes 0 .. ``classes`` - 1.
    classes : int
        Number of classes.

    Returns
    -------
    array of int, shape (classes, classes)
        Rows are true classes, columns predicted ones.

    Examples
    --------
    >>> confusion_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    return np.bincount(true * classes + predicted, minlength=classes * classes).reshape(
        classes, classes
    )


def accuracy(counts: Counts, positive: int | None = None) -> float:
    """Return the share of records whose class is predicted rightly."""
    return _ratio(int(np.trace(counts)), int(counts.sum()))


def balanced_accuracy(counts: Counts, positive: int | None = None) -> float:
    """Return the mean recall over the classes that occur."""
    members = counts.sum(axis=1)
    occurs = members > 0
    if not occurs.any():
        return 0.0
    return float(np.mean(np.diag(counts)[occurs] / members[occurs]))


def precision(counts: Counts, positive: int | None) -> float:
    """Return the share of records predicted positive that are positive."""
    at = _required(positive)
    return _ratio(int(counts[at, at]), int(counts[:, at].sum()))


def recall(counts: Counts, positive: int | None) -> float:
    """Return the share of positive records that are predicted positive."""
    at = _required(positive)
    return _ratio(int(counts[at, at]), int(counts[at, :].sum()))


def f1(counts: Counts, positive: int | None) -> float:
    """Return the harmonic mean of precision and recall."""
    at = _required(positive)
    return _ratio(2 * int(counts[at, at]), int(counts[:, at].sum() + counts[at, :].sum()))


MEASURES: Mapping[str, Callable[[Counts, int | None], float]] = MappingProxyType(
    {
        "accuracy": accuracy,
        "balanced_accuracy": balanced_accuracy,
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }
)
NEEDS_POSITIVE = frozenset({"precision", "recall", "f1"})


def _required(positive: int | None) -> int:
    if positive is None:
        raise TypeError("precision, recall and f1 need a positive class")
    return positive


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0
