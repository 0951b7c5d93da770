"""The masking effect with noise: what three families of curves show of anonymized records.

The records of the case study, to whose y normal noise is added, so much that the true curve
explains the published .979 of it. Curves of two parameters are fitted by least squares to records
in groups of k, and scored on these and on the original records, for ``DRAWS`` draws of the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from sklearn.metrics import r2_score

from tests.case_studies.masking_effect import (
    GROUP_SIZES,
    REPRESENTATIVES,
    Representative,
    anonymized,
    logistic,
    records,
)

Floats = NDArray[np.float64]

DRAWS = 200
RAW_R2 = 0.979


# Linear in their parameters: ``a + b basis(x)``; x begins at 0.
BASES: dict[str, Callable[[Floats], Floats]] = {"logarithm": np.log1p, "line": lambda x: x}
FAMILIES = ("logistic", *BASES)


def noisy(seed: int) -> Floats:
    """Return y of all records with noise, shape (80,)."""
    _, y = records()
    spread = np.sqrt(y.var() * (1 - RAW_R2) / RAW_R2)
    return y + np.random.default_rng(seed).normal(0, spread, len(y))


def fitted(family: str, released: Floats, y: Floats) -> Callable[[Floats], Floats]:
    """Return the curve of a family that is nearest to y by least squares."""
    if family == "logistic":
        # Two groups determine the parameters but not their covariance, which `curve_fit` asks for.
        fit = least_squares(lambda at: logistic(released, *at) - y, (50.0, 10.0), method="lm")
        return lambda x: logistic(x, *fit.x)
    basis = BASES[family]
    slope, height = np.polyfit(basis(released), y, 1)
    return lambda x: height + slope * basis(x)


def scores(family: str, k: int, representative: Representative, y: Floats) -> tuple[float, float]:
    """Return R2 of the fitted curve on anonymized and on original records."""
    x, _ = records()
    released = anonymized(k, representative)
    curve = fitted(family, released, y)
    return float(r2_score(y, curve(released))), float(r2_score(y, curve(x)))


@cache
def drawn() -> dict[tuple[str, str, int], Floats]:
    """Return R2 on anonymized and original records by family, representative and k.

    Returns
    -------
    dict
        Arrays of shape (``DRAWS``, 2).
    """
    tables = [noisy(seed) for seed in range(DRAWS)]
    return {
        (family, representative, k): np.array(
            [scores(family, k, representative, y) for y in tables]
        )
        for family in FAMILIES
        for representative in REPRESENTATIVES
        for k in GROUP_SIZES
    }


def rows() -> Iterator[dict[str, Any]]:
    """Yield what the page tells of each family, representative and k."""
    for (family, representative, k), values in drawn().items():
        yield {
            "curve": family,
            "representative": representative,
            "group_size": k,
            "r2_anonymized": _median_and_quartiles(values[:, 0]),
            "r2_original": _median_and_quartiles(values[:, 1]),
        }


def best_families(k: int, representative: str) -> dict[str, float]:
    """Return the share of draws in which each family fits anonymized records best."""
    fits = np.array([drawn()[family, representative, k][:, 0] for family in FAMILIES])
    wins = np.bincount(fits.argmax(axis=0), minlength=len(FAMILIES)) / DRAWS
    return dict(zip(FAMILIES, map(float, wins), strict=True))


def _median_and_quartiles(values: Floats) -> str:
    # Further out the logistic curve of two groups depends on the optimizer: where noise lifts the
    # mean of a group above the height of the curve, the best curve is a step.
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]) + 0.0
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"
