"""Models that scikit-learn lacks, or that fail there when all features are fully generalized."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError

# Agglomerative clustering keeps the distance of each pair: 400 MB.
MOST_AGGLOMERATED = 10_000


class NaiveBayes(GaussianNB):  # type: ignore[misc]  # scikit-learn has no types
    """Gaussian naive Bayes that learns the class frequencies from constant features.

    scikit-learn widens each variance by a share of the largest; if all features are constant it
    divides by 0 and predicts the first class.

    Examples
    --------
    >>> model = NaiveBayes().fit(np.zeros((4, 1)), [0, 1, 1, 1])
    >>> model.predict_proba([[5.0]]).round(2).tolist()
    [[0.25, 0.75]]
    """

    def fit(self, X: Floats, y: NDArray[Any], sample_weight: Floats | None = None) -> NaiveBayes:  # noqa: N803
        """Fit as scikit-learn does; with variances of 1 if all are 0."""
        super().fit(X, y, sample_weight)
        if not self.var_.any():
            self.var_[:] = 1.0  # the same for all classes, so that their frequencies decide
        return self


class Constant(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The zero-rule baseline without classes or numbers: one risk, cluster or score for all."""

    def fit(self, rows: Floats, target: NDArray[np.void] | None = None) -> Constant:
        """Learn nothing."""
        return self

    def predict(self, rows: Floats) -> Floats:
        """Return 0.0 for each row."""
        return np.zeros(len(rows))


class Agglomerative(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Agglomerative clustering that also answers for records that it was not fitted to.

    These belong to the cluster with the closest mean.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    linkage : str
        ward, complete, average or single.

    Examples
    --------
    >>> model = Agglomerative(n_clusters=2).fit(np.array([[0.0], [1.0], [8.0], [9.0]]))
    >>> first, second = model.predict(np.array([[0.4], [7.0]]))
    >>> bool(first != second)
    True
    """

    def __init__(self, n_clusters: int = 2, linkage: str = "ward") -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage

    def fit(self, rows: Floats) -> Agglomerative:
        """Cluster the rows; too many are an `EvaluationError`."""
        from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 (slow to import)

        if len(rows) > MOST_AGGLOMERATED:
            raise EvaluationError(
                f"agglomerative must have at most {MOST_AGGLOMERATED:,} training records, since it "
                f"keeps the distance of each pair; got {len(rows):,}. Lower quality.sample, or "
                "choose k_means."
            )
        clustering = AgglomerativeClustering(n_clusters=self.n_clusters, linkage=self.linkage)
        clusters = clustering.fit_predict(rows)
        self.means_ = np.array(
            [rows[clusters == cluster].mean(axis=0) for cluster in range(self.n_clusters)]
        )
        return self

    def predict(self, rows: Floats) -> Ints:
        """Return the cluster with the closest mean for each row."""
        from sklearn.metrics import pairwise_distances_argmin  # noqa: PLC0415

        closest: Ints = pairwise_distances_argmin(rows, self.means_)
        return closest
