"""Nearness of foreign rows to outer records, beside that of inner records.

A row that was made from a record is far closer to it than to what else is around it. The distance
of a record to its nearest row is divided by that to its tenth nearest, or by that to its tenth
nearest inner record if this is less: a table that crowds where most people are, or has gaps, comes
no closer. Inner records are the control: what real people who have nothing to do with each other
have in common. With each column left out in turn, noise in one column hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats

# Of each column the values: numbers, NaN if unknown, or hashes.
Columns = Sequence[NDArray[Any]]
# More than a table holds noisy copies of a record.
NEIGHBOURS = 10
# Share of the outer records that are close to an inner one, of those with no equal one.
CLOSE = 0.05
# Below it, a distance is that of adding doubles.
_LEAST = 1e-9
# Distances that are held at once.
AT_ONCE = 4_000_000


def close_alone(outer: Columns, rows: Columns, inner: Columns) -> Iterator[tuple[int, int]]:
    """Count the outer records that are close to a row alone, and to an inner record alone.

    The first pair is of all columns; the others leave out one each, unless there is only one.
    """
    ranges = [_range(both) for both in zip(outer, inner, strict=True)]
    to_rows, to_inner = (_nearest(outer, other, ranges) for other in (rows, inner))
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in outer])
    for place, ((row, tenth_row), (record, tenth_record)) in enumerate(
        zip(to_rows, to_inner, strict=True)
    ):
        control = _ratio(record, tenth_record)
        unequal = np.sort(control[(control > 0) & np.isfinite(control)])
        limit = unequal[math.ceil(CLOSE * len(unequal)) - 1] if len(unequal) else 0.0
        is_row = _ratio(row, np.minimum(tenth_row, tenth_record)) <= limit + _LEAST
        is_record = control <= limit + _LEAST
        # Equal records say the same, and count once.
        used = np.delete(codes, place - 1, axis=1) if place else codes
        first = np.unique(used, axis=0, return_index=True)[1]
        alone = [some[first].sum() for some in (is_row & ~is_record, is_record & ~is_row)]
        yield int(alone[0]), int(alone[1])


def _range(values: tuple[NDArray[Any], NDArray[Any]]) -> float:
    """Return the range of known numbers; 1 if they are all alike."""
    joined = np.concatenate(values)
    if joined.dtype.kind != "f" or np.isnan(joined).all():
        return 1.0
    return float(np.nanmax(joined) - np.nanmin(joined)) or 1.0


def _nearest(records: Columns, others: Columns, ranges: Sequence[float]) -> Floats:
    """Return the distances to the nearest and the tenth nearest, for each choice of columns."""
    count, size, width = len(records[0]), len(others[0]), len(records)
    nearest = np.empty((1 + width if width > 1 else 1, 2, count))
    last = min(NEIGHBOURS, size) - 1
    step = max(1, AT_ONCE // (size * width))
    for start in range(0, count, step):
        some = slice(start, start + step)
        parts = [
            _distance(known[some], shown, length)
            for known, shown, length in zip(records, others, ranges, strict=True)
        ]
        total = np.sum(parts, axis=0)
        for choice, left_out in zip(nearest, [0.0, *parts], strict=False):
            closest = np.partition(total - left_out, last, axis=1)[:, : last + 1]
            choice[:, some] = closest.min(axis=1), closest.max(axis=1)
    return np.where(nearest < _LEAST, 0.0, nearest)


def _distance(known: NDArray[Any], shown: NDArray[Any], length: float) -> Floats:
    """Return the distance of each record to each other in one column, 0 to 1 (Gower 1971)."""
    if known.dtype.kind != "f":
        return np.asarray(known[:, None] != shown, dtype=np.float64)
    far = np.minimum(np.abs(known[:, None] - shown) / length, 1.0)
    is_alike = np.isnan(known)[:, None] & np.isnan(shown)
    return np.where(is_alike, 0.0, np.where(np.isnan(far), 1.0, far))


def _ratio(distance: Floats, around: Floats) -> Floats:
    """Return distances as shares of those around; infinite where all around is equal."""
    shares = np.full(len(distance), np.inf)
    np.divide(distance, around, out=shares, where=around > 0)
    return shares
