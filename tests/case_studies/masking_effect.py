"""The masking effect: which representative of a group of numbers hides what k-anonymity costs.

Eighty records with one number x, of which y is a logistic function. Groups of k consecutive records
share one representative of x. A logistic curve is fitted to the anonymized records and scored on
them and on the original ones. No data are needed: the records are their own definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import curve_fit
from sklearn.metrics import r2_score

from dbt_anonymize.arrays import Floats
from tests.case_studies.plots import WIDTH

Representative = Literal["lower bound", "midpoint"]

RECORDS = 80
STEP = 1.25
GROUP_SIZES = (1, 5, 10, 40)
REPRESENTATIVES: tuple[Representative, ...] = ("lower bound", "midpoint")


@dataclass(frozen=True)
class Fit:
    """R2 of a curve that was fitted to anonymized records, on both kinds of test records.

    Parameters
    ----------
    centre, scale : float
        Of the fitted curve, in units of x; the true ones are 46 and 2.5.
    anonymized, original : float
        R2 on anonymized records and on original ones.
    """

    centre: float
    scale: float
    anonymized: float
    original: float


def records() -> tuple[Floats, Floats]:
    """Return x and y of all records, each of shape (80,)."""
    x = STEP * (np.arange(RECORDS) + 0.5)
    return x, logistic(x, 46.0, 2.5)


def logistic(x: Floats, centre: float, scale: float) -> Floats:
    """Return ``10 / (1 + exp(-(x - centre) / scale))``, written so that nothing overflows."""
    return 5 * (1 + np.tanh((x - centre) / (2 * scale)))


def anonymized(k: int, representative: Representative) -> Floats:
    """Return x of all records as they are released in groups of k, shape (80,).

    A record of number i stands for the interval ``[1.25 i, 1.25 (i + 1))``, so that a group covers
    an interval too. A group of one record is released as it is: that is no anonymization.
    """
    x, _ = records()
    if k == 1:
        return x
    first = np.arange(RECORDS) // k * k
    share = {"lower bound": 0.0, "midpoint": 0.5}[representative]
    return STEP * (first + share * k)


def fit(k: int, representative: Representative) -> Fit:
    """Fit a curve to records in groups of k, by least squares, and score it.

    The height of the curve is known, 10: two groups are two points, which fix two parameters.
    """
    x, y = records()
    released = anonymized(k, representative)
    (centre, scale), _ = curve_fit(logistic, released, y, p0=(float(x.mean()), 10.0))
    return Fit(
        centre=float(centre),
        scale=float(scale),
        anonymized=float(r2_score(y, logistic(released, centre, scale))),
        original=float(r2_score(y, logistic(x, centre, scale))),
    )


def rows() -> list[dict[str, Any]]:
    """Return what the page tells: one row per k and representative."""
    return [
        {
            "group_size": k,
            "representative": representative,
            "centre": found.centre,
            "scale": found.scale,
            "r2_anonymized": found.anonymized,
            "r2_original": found.original,
        }
        for k in GROUP_SIZES
        for representative in REPRESENTATIVES
        for found in [fit(k, representative)]
    ]


def plot() -> str:
    """Draw R2 on a scale from 0 to 1: ○ on anonymized records, ● on original ones, ◉ on both."""
    lines = [f"{'k':>3}  {'representative':<16}0{'1':>{WIDTH - 1}}"]
    for row in rows():
        cells = [" "] * WIDTH
        tested_on = [round(row[f"r2_{on}"] * (WIDTH - 1)) for on in ("anonymized", "original")]
        for position, mark in zip(tested_on, "○●", strict=True):
            cells[position] = "◉" if len({*tested_on}) == 1 else mark
        text = f"{row['group_size']:>3}  {row['representative']:<16}{''.join(cells)}"
        lines.append(text.rstrip())
    return "\n".join(lines) + "\n"
