"""Totals under a label that nobody named: one more category, which would give hidden cells back."""

from __future__ import annotations

import math

from dbt_anonymize.arrays import Bools, Floats, np
from dbt_anonymize.extensions.tables.cube import Cube

# Labels that stand for totals. As `_unnamed_totals` of the macros, and so the following.
NAMES = ("all", "total", "overall", "sum", "gesamt", "insgesamt")
# Share of lines that must add up, and how improbable it must be that they do so by chance: a count
# of n has one of about n + 1 values.
_SHARE = 0.9
_CHANCE = 1 / 1000


def unnamed_totals(cube: Cube, values: Floats) -> list[tuple[str, str]]:
    """Return dimensions and labels, each the sum of the others of its line, as far as is shown.

    Lines are compared where all labels are shown, and no total says that the label is a part of it.
    A label that is named like a total is one without such lines, too. NaN is not shown.

    Examples
    --------
    >>> from dbt_anonymize.extensions.tables.cube import Dimension
    >>> cube = Cube((Dimension.flat("ward", ["north", "south", "together"]),))
    >>> unnamed_totals(cube, np.array([np.nan, 800, 400, 1200]))
    [('ward', 'together')]
    >>> unnamed_totals(cube, np.array([2400, 800, 400, 1200])), unnamed_totals(cube, np.arange(4))
    ([], [])
    """
    margins = ((cube.categories > 0) @ (1 << np.arange(len(cube.shape)))).reshape(cube.shape)
    found = []
    for place, dimension in enumerate(cube.dimensions):
        lines = np.moveaxis(values.reshape(cube.shape), place, 0)
        margin = np.moveaxis(margins, place, 0)[0].ravel()
        is_total = _are_sums(lines.reshape(len(lines), -1), margin)
        is_total |= _are_named(lines.reshape(len(lines), -1), dimension.labels[1:])
        found += [(dimension.name, dimension.labels[at + 1]) for at in np.flatnonzero(is_total)]
    return found


def _are_sums(lines: Floats, margin: Floats) -> Bools:
    """Tell of each label if it is the sum of the others in the lines of one margin."""
    total, parts = lines[0], lines[1:]
    is_whole = (parts > 0) & ~np.isnan(parts).any(axis=0)
    others = np.nansum(parts, axis=0) - parts
    is_sum = is_whole & np.isclose(parts, others) & (np.isnan(total) | np.isclose(parts, total))
    surprise = np.log1p(np.where(is_sum, parts, 0.0))
    is_total = np.zeros(len(parts), dtype=bool)
    for one in np.unique(margin):
        of_margin = margin == one
        wholes, sums = (which[:, of_margin].sum(axis=1) for which in (is_whole, is_sum))
        is_improbable = surprise[:, of_margin].sum(axis=1) >= -math.log(_CHANCE)
        is_total |= (sums >= _SHARE * wholes) & is_improbable
    return is_total


def _are_named(lines: Floats, labels: tuple[str, ...]) -> Bools:
    """Tell of each label if it is named like a total, and of few totals a part."""
    total, parts = lines[0], lines[1:]
    with_others = np.nansum(parts, axis=0)
    is_told = (parts > 0) & (with_others > parts) & ~np.isnan(total)
    is_part = is_told & (total >= with_others)
    is_named = np.array([label.lower() in NAMES for label in labels], dtype=bool)
    return np.asarray(is_named & (2 * is_part.sum(axis=1) <= is_told.sum(axis=1)))
