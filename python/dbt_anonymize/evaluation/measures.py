"""Measures of classifications, regressions and times to an event.

Values are those of scikit-learn (scikit-survival for the concordance index), computed from a few
sorted arrays because they are computed thousands of times.

The precision of a class that is never predicted but occurs in the test records is 0.0: an effort
cannot win by not answering. Undefined measures are NaN, and means over splits skip them: precision,
recall and F1 of a class without test records, the specificity of a class that all have, the ROC AUC
of either, Brier score and log loss of a model without probabilities, R² of one record, the
concordance without comparable records. ``balanced_accuracy`` and the macro ``roc_auc`` average the
classes that occur.

The zero rule has the measures of the best constant answer: for precision, recall and F1 of a class
it always predicts the class, for specificity never.

References
----------
.. [1] Sokolova, Lapalme 2009, Information Processing & Management 45(4):427-437.
.. [2] Brodersen et al. 2010, ICPR, 3121-3124 (balanced accuracy).
.. [3] Fawcett 2006, Pattern Recognition Letters 27(8):861-874 (ROC, one against the rest).
.. [4] Brier 1950, Monthly Weather Review 78(1):1-3.
.. [5] Gorodkin 2004, Computational Biology and Chemistry 28(5-6):367-374 (Matthews correlation).
.. [6] Harrell et al. 1982, JAMA 247(18):2543-2546 (concordance index).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints

# Measures that count errors: QF is their negative.
LOWER_IS_BETTER = frozenset({"brier_score", "log_loss", "mae", "rmse"})
# Risks that differ by less are equal, as in scikit-survival: sums in another order round otherwise.
_EQUAL_RISK = 1e-8


@dataclass(frozen=True)
class Predicted:
    """Predictions of a classifier for n test records.

    Attributes
    ----------
    labels : array of int, shape (n,)
        Ints of the predicted classes, 0 .. classes - 1.
    probabilities : array of float, shape (n, classes), optional
        0.0 for a class without training records.
    ranks : array of float, shape (n, classes), optional
        Decision scores, needed only without probabilities; ``-inf`` for a class without training
        records.
    is_zero_rule : bool
        Whether measures are those of the best constant answer.
    """

    labels: Ints
    probabilities: Floats | None = None
    ranks: Floats | None = None
    is_zero_rule: bool = False

    def __getitem__(self, rows: Ints | slice) -> Predicted:
        """Return the predictions of some records, as an array of numbers would."""
        probabilities, ranks = self.probabilities, self.ranks
        return Predicted(
            self.labels[rows],
            None if probabilities is None else probabilities[rows],
            None if ranks is None else ranks[rows],
            self.is_zero_rule,
        )


Predictions = Predicted | Floats
"""Predictions of records: those of a class, or numbers, one per record."""


def classification_measures(
    true: Ints, predicted: Predicted, classes: int, positive: int | None
) -> dict[tuple[str, int | None], float]:
    """Return all measures of a classification, by measure and class.

    ``true`` holds n >= 1 codes of ``classes`` >= 2 classes; ``positive`` is a code or None. With
    None as class: accuracy, balanced_accuracy, matthews_correlation, roc_auc (of ``positive``, else
    of class 1; of more than two classes the mean), brier_score (mean of (p - y)^2, 0 .. 1; of more
    than two classes of the sum over classes, 0 .. 2), log_loss (nats), and precision, recall,
    sensitivity, specificity and f1 of ``positive``. By class, each against the rest: precision,
    sensitivity, specificity, f1, roc_auc.

    Examples
    --------
    >>> predicted = Predicted(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]))
    >>> measures = classification_measures(np.array([0, 0, 1]), predicted, classes=2, positive=1)
    >>> round(measures["accuracy", None], 3), measures["precision", None], measures["roc_auc", 0]
    (0.667, 0.5, 1.0)
    """
    counts = confusion_counts(true, predicted.labels, classes)
    by_class, aucs = _measures_by_class(counts), _roc_aucs(true, predicted, classes)
    balanced = by_class["recall"]
    if predicted.is_zero_rule:
        by_class = _constant_measures_by_class(counts)
    auc_class = 1 if positive is None else positive
    occurs = counts.any(axis=1)
    measures: dict[tuple[str, int | None], float] = {
        ("accuracy", None): int(np.trace(counts)) / len(true),
        ("balanced_accuracy", None): float(balanced[occurs].mean()),
        ("matthews_correlation", None): _matthews_correlation(counts),
        ("roc_auc", None): float(aucs[auc_class]) if classes == 2 else _nan_mean(aucs),
        ("brier_score", None): _brier_score(true, predicted.probabilities, classes),
        ("log_loss", None): _log_loss(true, predicted.probabilities),
    }
    if positive is not None:
        measures |= {
            (measure, None): float(values[positive]) for measure, values in by_class.items()
        }
    for code in range(classes):
        for measure in ("precision", "sensitivity", "specificity", "f1"):
            measures[measure, code] = float(by_class[measure][code])
        measures["roc_auc", code] = float(aucs[code])
    return measures


def regression_measures(true: Floats, predicted: Floats) -> dict[str, float]:
    """Return ``r2``, ``mae`` and ``rmse`` of n >= 1 finite numbers.

    ``predicted`` of the zero rule has shape (n, 2): a mean, and a median for ``mae``.

    R² is 1 if perfect, below 0 if worse than the mean, NaN for one record; of equal true values 1.0
    if all are met, else 0.0. The errors have the unit of the target.

    Examples
    --------
    >>> regression_measures(np.array([0.0, 2.0]), np.array([0.0, 1.0]))["r2"]
    0.5
    """
    for_squares, for_sizes = predicted.reshape(len(true), -1).T[[0, -1]]
    errors = true - for_squares
    squares = float(np.sum(errors**2))
    spread = float(np.sum((true - true.mean()) ** 2))
    if len(true) < 2:
        r2 = math.nan
    elif spread == 0:
        r2 = 1.0 if squares == 0 else 0.0
    else:
        r2 = 1 - squares / spread
    return {
        "r2": r2,
        "mae": float(np.mean(np.abs(true - for_sizes))),
        "rmse": math.sqrt(squares / len(true)),
    }


def survival_measures(event: Bools, time: Floats, risk: Floats) -> dict[str, float]:
    """Return Harrell's ``concordance_index``, 0 .. 1; NaN if no two records are comparable.

    Two records are comparable if one has an event (``event``; else it was censored at ``time``) and
    the other is known to be without it then: its time is later, or equal and censored. The index is
    the share of these pairs in which the earlier one has the higher risk; equal risks count half.

    O(n log n): behind each event in order of time, lower risks are counted bit by bit of their
    ranks.

    Examples
    --------
    >>> survival_measures(np.array([True, False]), np.array([1.0, 2.0]), np.array([0.3, 0.1]))
    {'concordance_index': 1.0}
    """
    order = np.lexsort((~event, time))
    event, time, risk = event[order], time[order], risk[order]
    # The first record that outlives each event: behind all events of the same time.
    is_last = np.append((time[1:] != time[:-1]) | (event[1:] != event[:-1]), True)
    ends = np.flatnonzero(is_last) + 1
    starts = ends[np.cumsum(is_last) - is_last][event]
    pairs = int((len(risk) - starts).sum())
    if pairs == 0:
        return {"concordance_index": math.nan}
    levels, ranks = np.unique(risk, return_inverse=True)
    of_events = risk[event]
    below = np.searchsorted(levels, of_events - _EQUAL_RISK, side="left")
    upto = np.searchsorted(levels, of_events + _EQUAL_RISK, side="right")
    lower = int(_count_below(ranks, starts, below).sum())
    not_higher = int(_count_below(ranks, starts, upto).sum())
    return {"concordance_index": (lower + not_higher) / (2 * pairs)}


def _count_below(ranks: Ints, starts: Ints, limits: Ints) -> Ints:
    """Count for each query the positions from its start on whose rank is below its limit.

    A wavelet matrix: stably sorted by one bit after the other, the positions of a query stay one
    range, from which each bit splits off what is decided.
    """
    counts = np.zeros(len(starts), dtype=np.int64)
    lows, highs = starts.astype(np.int64), np.full(len(starts), len(ranks), dtype=np.int64)
    for bit in reversed(range(len(ranks).bit_length())):  # neither ranks nor limits exceed it
        is_one = (ranks >> bit) & 1 == 1
        zeros = np.concatenate([[0], np.cumsum(~is_one)])
        low_zeros, high_zeros = zeros[lows], zeros[highs]
        goes_up = (limits >> bit) & 1 == 1
        counts += np.where(goes_up, high_zeros - low_zeros, 0)
        lows = np.where(goes_up, zeros[-1] + lows - low_zeros, low_zeros)
        highs = np.where(goes_up, zeros[-1] + highs - high_zeros, high_zeros)
        ranks = np.concatenate([ranks[~is_one], ranks[is_one]])
    return counts


def _roc_aucs(true: Ints, predicted: Predicted, classes: int) -> Floats:
    ranks = predicted.probabilities if predicted.ranks is None else predicted.ranks
    if ranks is None:
        return np.full(classes, math.nan)
    return np.array([_roc_auc(true == code, ranks[:, code]) for code in range(classes)])


def _roc_auc(is_member: Bools, ranks: Floats) -> float:
    """Return the share of (member, other) pairs in which the member ranks higher; a tie is half."""
    members = int(is_member.sum())
    others = len(ranks) - members
    if members == 0 or others == 0:
        return math.nan
    order = np.argsort(ranks)
    sorted_ranks, sorted_members = ranks[order], is_member[order]
    ends = np.flatnonzero(np.append(sorted_ranks[1:] != sorted_ranks[:-1], True))
    members_upto = np.cumsum(sorted_members)[ends]
    others_upto = ends + 1 - members_upto
    tied_others = np.diff(others_upto, prepend=0)
    tied_members = np.diff(members_upto, prepend=0)
    halves = int((tied_members * (2 * others_upto - tied_others)).sum())
    return halves / (2 * members * others)


def _nan_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _brier_score(true: Ints, probabilities: Floats | None, classes: int) -> float:
    if probabilities is None:
        return math.nan
    if classes == 2:
        return float(np.mean((probabilities[:, 1] - (true == 1)) ** 2))
    # sum over classes of (p - y)^2, without an array of y
    own = probabilities[np.arange(len(true)), true]
    return float(np.mean(np.sum(probabilities**2, axis=1) - own**2 + (1 - own) ** 2))


def _log_loss(true: Ints, probabilities: Floats | None) -> float:
    if probabilities is None:
        return math.nan
    limit = float(np.finfo(probabilities.dtype).eps)
    own = probabilities[np.arange(len(true)), true]
    return float(-np.mean(np.log(np.clip(own, limit, 1 - limit))))


def confusion_counts(true: Ints, predicted: Ints, classes: int) -> Ints:
    """Count records by true class (rows) and predicted class (columns), as codes.

    Examples
    --------
    >>> confusion_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    return np.bincount(true * classes + predicted, minlength=classes * classes).reshape(
        classes, classes
    )


def _measures_by_class(counts: Ints) -> dict[str, Floats]:
    """Return the measures of each class against the rest; NaN for a class that does not occur."""
    hits, true, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    others = counts.sum() - true
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(true == 0, np.nan, np.where(predicted == 0, 0.0, hits / predicted))
        recall = hits / true
        specificity = (others - (predicted - hits)) / others
        f1 = np.where(true == 0, np.nan, 2 * hits / (predicted + true))
    return {
        "precision": precision,
        "recall": recall,
        "sensitivity": recall,
        "specificity": specificity,
        "f1": f1,
    }


def _constant_measures_by_class(counts: Ints) -> dict[str, Floats]:
    """Return the measures of always predicting a class (specificity: never); same NaN rules."""
    true = counts.sum(axis=1)
    share = np.where(true == 0, np.nan, true / counts.sum())
    recall = np.where(true == 0, np.nan, 1.0)
    return {
        "precision": share,
        "recall": recall,
        "sensitivity": recall,
        "specificity": np.where(true == counts.sum(), np.nan, 1.0),
        "f1": 2 * share / (1 + share),
    }


def _matthews_correlation(counts: Ints) -> float:
    """Return the correlation of predicted and true classes, -1 to 1; 0 where either is constant."""
    true, predicted = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float)
    total, right = float(true.sum()), float(np.trace(counts))
    spreads = (total**2 - predicted @ predicted) * (total**2 - true @ true)
    return float((right * total - true @ predicted) / math.sqrt(spreads)) if spreads > 0 else 0.0
