"""Models that scikit-learn lacks, or that fail there when all features are fully generalized."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

from dbt_anonymize.evaluation.arrays import Floats


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


class ConstantRisk(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The zero-rule baseline of a time to an event: every record has the same risk."""

    def fit(self, rows: Floats, target: NDArray[np.void]) -> ConstantRisk:
        """Learn nothing."""
        return self

    def predict(self, rows: Floats) -> Floats:
        """Return a risk of 0.0 for each row."""
        return np.zeros(len(rows))
