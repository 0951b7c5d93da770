"""Clusterings and rankings by anomaly: models without a target, and how they are judged.

A model trained on an effort is judged by the same model trained on the untouched training records
with a seed of its own. Both are asked about the same test records. So effort 0 is not perfect by
construction: it says how far two runs on the same records agree.

References
----------
.. [1] Hubert, Arabie 1985, Journal of Classification 2(1):193-218 (adjusted Rand index).
.. [2] Rousseeuw 1987, Journal of Computational and Applied Mathematics 20:53-65 (silhouette).
.. [3] Liu, Ting, Zhou 2008, IEEE ICDM, 413-422 (isolation forest).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.evaluation.problem import Target

# The silhouette compares each of its records with all others.
MOST_SILHOUETTE_RECORDS = 1_000


@dataclass(frozen=True)
class Reference:
    """Answers of the model that was trained on untouched records, for the test records of a split.

    Attributes
    ----------
    target : Target
        ``numbers`` are the answers: clusters or anomaly scores; NaN for other records.
    sampled : array of int, shape (n,)
        Positions among the test records of those that the silhouette is measured on.
    rows : array of float, shape (n, features)
        Their untouched features, numbers in standard deviations of the training records.
    """

    target: Target
    sampled: Ints
    rows: Floats


def sample_for_silhouette(test_records: int, seed: int) -> Ints:
    """Draw at most `MOST_SILHOUETTE_RECORDS` positions among test records, ascending."""
    order = np.random.default_rng(seed).permutation(test_records)
    return np.sort(order[:MOST_SILHOUETTE_RECORDS])


def unsupervised_answers(fitted: Any, rows: Floats, task: str) -> Floats:
    """Return the cluster of each row, or its anomaly score, higher for rarer ones."""
    if task == "clustering":
        return np.asarray(fitted.predict(rows), dtype=np.float64)
    # Of scikit-learn all three are lower for rarer records; of the zero rule all are the same.
    names = ("score_samples", "decision_function", "predict")
    score = next(getattr(fitted, name) for name in names if hasattr(fitted, name))
    return -np.asarray(score(rows), dtype=np.float64)


def clustering_measures(reference: Floats, clusters: Floats) -> dict[str, float]:
    """Return the ``adjusted_rand_index`` of two partitions of n >= 1 records.

    1 for the same partition under any names, 0 on average for independent ones, at least -0.5.

    Examples
    --------
    >>> clustering_measures(np.array([0.0, 0.0, 1.0, 1.0]), np.array([5.0, 5.0, 2.0, 2.0]))
    {'adjusted_rand_index': 1.0}
    """
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415 (only where it is measured)

    return {"adjusted_rand_index": float(adjusted_rand_score(reference, clusters))}


def silhouette(rows: Floats, clusters: Floats) -> float:
    """Return the mean silhouette, -1 .. 1, by Euclidean distance.

    0.0 where all records are in one cluster or each in its own: none has others to be closer to.

    Examples
    --------
    >>> round(silhouette(np.array([[0.0], [0.1], [9.0], [9.1]]), np.array([0.0, 0.0, 1.0, 1.0])), 2)
    0.99
    """
    from sklearn.metrics import silhouette_score  # noqa: PLC0415

    number = len(np.unique(clusters))
    if not 2 <= number < len(clusters):
        return 0.0
    return float(silhouette_score(rows, clusters))


def anomaly_measures(reference: Floats, scores: Floats, top_share: float) -> dict[str, float]:
    """Return ``rank_correlation`` (Spearman) and ``top_overlap`` of two scores of n >= 1 records.

    The correlation is 0.0 where either score is the same for all records. The overlap is the share
    of the ``top_share`` highest by the reference that are also among the highest by ``scores``;
    records that are equal at the edge are drawn from with equal chances, so that the same score for
    all has the share itself.

    Examples
    --------
    >>> measures = anomaly_measures(np.arange(10.0), np.arange(10.0) ** 2, 0.2)
    >>> measures == {"rank_correlation": 1.0, "top_overlap": 1.0}
    True
    """
    first, second = (_membership_of_top(each, top_share) for each in (reference, scores))
    return {
        "rank_correlation": _rank_correlation(reference, scores),
        "top_overlap": float(np.sum(first * second) / first.sum()),
    }


def _rank_correlation(first: Floats, second: Floats) -> float:
    from scipy.stats import rankdata  # type: ignore[import-untyped]  # noqa: PLC0415

    centered = [ranks - ranks.mean() for ranks in map(rankdata, (first, second))]
    spread = math.sqrt(math.prod(float(np.sum(ranks**2)) for ranks in centered))
    if spread == 0:
        return 0.0
    return min(1.0, max(-1.0, float(np.sum(centered[0] * centered[1])) / spread))


def _membership_of_top(scores: Floats, share: float) -> Floats:
    """Return the chance of each record to be among the highest, at least one of them."""
    size = max(1, round(share * len(scores)))
    edge = np.sort(scores)[-size]
    above, at_edge = scores > edge, scores == edge
    chance = (size - np.count_nonzero(above)) / np.count_nonzero(at_edge)
    return np.where(above, 1.0, np.where(at_edge, chance, 0.0))
