"""Scores of a protected table: how well it answers what it is read for.

Everything is asked of the finest labels: a coarser one answers for each of them with an equal part,
as a reader would who knows no more. A hidden cell answers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbt_anonymize.arrays import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

# The scores of who knows nothing: no change, and all tied.
NO_CHANGE, ALL_TIED = 0.0, 0.5


class Finest(NamedTuple):
    """The finest labels of a dimension, and the label of an effort for each of them.

    ``coarse`` has its place among ``labels``, which are in order as texts; so are ``finest``.
    """

    labels: list[str]
    finest: list[str]
    coarse: Ints

    @classmethod
    def of(cls, pairs: pd.DataFrame) -> Finest:
        """Read the columns ``label`` and ``finest_label``."""
        ordered = pairs.sort_values("finest_label")
        labels = sorted({*ordered["label"]})
        places = {label: place for place, label in enumerate(labels)}
        coarse = np.array([places[label] for label in ordered["label"]], dtype=np.int64)
        return cls(labels, [*ordered["finest_label"]], coarse)


def answers(
    cells: pd.DataFrame,
    dimensions: Sequence[str],
    margin: Sequence[str],
    measure: str,
    finest: Mapping[str, Finest],
) -> Floats:
    """Return what a table says of each combination of finest labels of a margin.

    Parameters
    ----------
    cells : DataFrame
        Cells with the labels of all dimensions, missing in totals, and the measure, missing where
        it is hidden.
    dimensions, margin : list of str
        All dimensions, and those of the cells that are asked for, in the order of the axes.
    measure : str
        Column of the measure.
    finest : mapping of str to Finest
        Labels of each dimension.

    Returns
    -------
    array
        An axis for each dimension of the margin; 0 where nothing is said.
    """
    of_margin = np.ones(len(cells), dtype=bool)
    for name in dimensions:
        of_margin &= (cells[name].notna() if name in margin else cells[name].isna()).to_numpy()
    for name in margin:  # no subtotals
        of_margin &= cells[name].isin(finest[name].labels).to_numpy()
    rows = cells[of_margin]
    grid = np.zeros(tuple(len(finest[name].labels) for name in margin))
    places = tuple(
        rows[name].map({label: place for place, label in enumerate(finest[name].labels)}).to_numpy()
        for name in margin
    )
    grid[places] = rows[measure].astype("float64").fillna(0.0).to_numpy()
    for axis, name in enumerate(margin):
        coarse = finest[name].coarse
        parts = np.bincount(coarse, minlength=len(finest[name].labels))
        shares = np.moveaxis(grid, axis, 0)[coarse]
        shares = (shares.T / parts[coarse]).T
        grid = np.moveaxis(shares, 0, axis)
    return grid


def score(kind: str, truth: Floats, told: Floats) -> tuple[float, float]:
    """Return the score of a question, 0 to 1, and that of an answer that knows nothing.

    What is asked for lies along the last axis; the groups within which it is asked weigh as much as
    they have. Groups that are empty, or have one label only where labels are compared, are left
    out; without others both scores are 1 and 0.

    Examples
    --------
    Of two labels with shares of .75 and .25, the answer says .5 each, as the zero rule does:

    >>> score("share", np.array([75.0, 25.0]), np.array([50.0, 50.0]))
    (0.75, 0.75)
    >>> score("rank", np.array([3.0, 2.0, 1.0]), np.array([30.0, 20.0, 11.0]))
    (1.0, 0.5)
    """
    ask, least = _KINDS[kind]
    groups = truth.reshape(-1, truth.shape[-1]), told.reshape(-1, told.shape[-1])
    asked = [(t, a) for t, a in zip(*groups, strict=True) if t.sum() > 0 and len(t) >= least]
    scores = [(t.sum(), *ask(t, a)) for t, a in asked]
    if not scores:
        return 1.0, 0.0
    weights, own, zero = np.array(scores).T
    return float(np.average(own, weights=weights)), float(np.average(zero, weights=weights))


def _share(truth: Floats, told: Floats) -> tuple[float, float]:
    shares = truth / truth.sum()
    zero = 1 - 0.5 * float(np.abs(shares - 1 / len(shares)).sum())
    if told.sum() <= 0:
        return 0.0, zero
    return 1 - 0.5 * float(np.abs(shares - told / told.sum()).sum()), zero


def _trend(truth: Floats, told: Floats) -> tuple[float, float]:
    changes, errors = np.abs(np.diff(truth)).sum(), np.abs(np.diff(told) - np.diff(truth)).sum()
    if changes == 0:
        return float(errors == 0), NO_CHANGE
    return max(0.0, 1 - float(errors / changes)), NO_CHANGE


def _rank(truth: Floats, told: Floats) -> tuple[float, float]:
    from scipy.stats import kendalltau  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

    if (truth == truth[0]).all():
        return float((told == told[0]).all()), 1.0
    if (told == told[0]).all():
        return ALL_TIED, ALL_TIED
    return (float(kendalltau(truth, told).statistic) + 1) / 2, ALL_TIED


# How each kind is scored, and how many labels it compares at least.
_KINDS: dict[str, tuple[Callable[[Floats, Floats], tuple[float, float]], int]] = {
    "share": (_share, 1),
    "trend": (_trend, 2),
    "rank": (_rank, 2),
}
