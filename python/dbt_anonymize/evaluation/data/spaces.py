"""Feature spaces: they turn the codes of a design into the matrix that a model sees.

A *block* turns the codes of one column into features, a *space* puts the blocks of all columns
side by side. The same codes have a space for models that split and one for the others; untouched
records have blocks of their own, which map them to the features of the effort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Floats

Codes = NDArray[np.int64] | NDArray[np.int32]

UNKNOWN = -1
# Feature of `Ends`, side of `np.searchsorted`, and offset of the rank.
_SIDES: tuple[tuple[int, Literal["left", "right"], int], ...] = ((0, "right", 1), (1, "left", 0))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, with an optional feature that flags unknown ones.

    ``values`` has shape (codes, numbers), NaN where unknown.
    """

    values: Floats
    has_indicator: bool = False

    @property
    def scaled(self) -> list[bool]:
        """Mask of the features that have a unit."""
        return [True] * self.values.shape[1] + [False] * self.has_indicator

    def take(self, codes: Codes) -> Floats:
        """Return the features of codes; NaN where a number is unknown."""
        return self._features[codes]

    @cached_property
    def _features(self) -> Floats:
        if not self.has_indicator:
            return self.values
        return np.column_stack([self.values, np.isnan(self.values[:, 0])])


@dataclass(frozen=True, eq=False)
class Ends(Numbers):
    """The first and the largest number of an interval, among those of training records.

    `read_ends` makes them ranks (``is_ranked``), or their mean and 0 (``is_mean``), or both.
    """

    is_ranked: bool = False
    is_mean: bool = False


@dataclass(frozen=True, eq=False)
class OneHot:
    """A feature for each of ``size`` labels.

    Attributes
    ----------
    positions : array of int, shape (codes,)
        Position of the label; `UNKNOWN`, or >= ``size`` for a label without a feature.
    shown : array of bool, shape (codes,), or None
        With blocks for several levels: which codes are labels of this one.
    """

    positions: Codes
    size: int
    shown: Bools | None = None

    @property
    def scaled(self) -> list[bool]:
        """Mask of the features that have a unit: none."""
        return [False] * self.size

    def take(self, codes: Codes) -> Floats:
        """Return the features of codes."""
        at = self.positions[codes]
        features = np.zeros((len(at), self.size))
        rows = np.flatnonzero((at != UNKNOWN) & (at < self.size))
        features[rows, at[rows]] = 1.0
        return features


def flag_unknown(places: Codes) -> OneHot:
    """Return one feature: 1.0 for codes whose place is `UNKNOWN`."""
    return OneHot(np.where(places == UNKNOWN, 0, UNKNOWN), 1)


@dataclass(frozen=True, eq=False)
class Shares:
    """A feature for each leaf of a category: its share of a label.

    Attributes
    ----------
    table : array of float, shape (codes, leaves)
        Zero for unknown values.
    leaf_of_record : array of int, shape (records,), or None
        Leaf of each record, `UNKNOWN` for NULL, where frequencies weigh the leaves.
    """

    table: Floats
    leaf_of_record: Codes | None = None

    @property
    def scaled(self) -> list[bool]:
        """Mask of the features that have a unit: none."""
        return [False] * self.table.shape[1]

    def take(self, codes: Codes) -> Floats:
        """Return the features of codes."""
        return self.table[codes]

    def weighted_by(self, records: Codes) -> Shares:
        """Weigh leaves by their frequency in some records; labels without records stay."""
        if self.leaf_of_record is None:
            return self
        own = self.leaf_of_record[records]
        weighted = self.table * np.bincount(own[own != UNKNOWN], minlength=self.table.shape[1])
        sums = weighted.sum(axis=1, keepdims=True)
        occurs = sums > 0
        table = np.where(occurs, weighted / np.where(occurs, sums, 1.0), self.table)
        return replace(self, table=table)


Block = Numbers | OneHot | Shares


@dataclass(frozen=True, eq=False)
class Space:
    """The features that a model sees: the blocks of each column, from left to right."""

    columns: tuple[Sequence[Block], ...]
    is_quasi: tuple[bool, ...]

    @cached_property
    def scaled(self) -> Bools:
        """Mask of the features that have a unit, shape (features,)."""
        flags = [flag for blocks in self.columns for block in blocks for flag in block.scaled]
        return np.array(flags, dtype=np.bool_)

    @cached_property
    def starts(self) -> list[int]:
        """The first feature of each column, then the number of features."""
        widths = [sum(len(block.scaled) for block in blocks) for blocks in self.columns]
        return [0, *np.cumsum(widths).tolist()]

    @cached_property
    def quasi(self) -> Bools:
        """Mask of the features of quasi-identifiers, shape (features,)."""
        return np.repeat(np.array(self.is_quasi, dtype=np.bool_), np.diff(self.starts))

    @cached_property
    def ends(self) -> list[tuple[int, Ends]]:
        """Each `Ends` block and its first feature; the second follows it."""
        ends, first = [], 0
        for block in (block for blocks in self.columns for block in blocks):
            if isinstance(block, Ends):
                ends.append((first, block))
            first += len(block.scaled)
        return ends

    def visible_features(self, columns: Sequence[Codes], rows: Codes) -> Bools:
        """Return a mask of the features whose level occurs in some row, shape (features,)."""
        flags: list[bool] = []
        for codes, blocks in zip(columns, self.columns, strict=True):
            for block in blocks:
                level = block.shown if isinstance(block, OneHot) else None
                is_shown = level is None or bool(level[codes[rows]].any())
                flags += [is_shown] * len(block.scaled)
        return np.array(flags, dtype=np.bool_)

    @property
    def is_fitted(self) -> bool:
        """Tell whether the features of a label depend on the released records."""
        blocks = (block for blocks in self.columns for block in blocks)
        return any(isinstance(b, Shares) and b.leaf_of_record is not None for b in blocks)

    def weighted_by(self, records: Codes) -> Space:
        """Return the space with leaves weighted by their frequency in some records."""
        if not self.is_fitted:
            return self
        columns = tuple(
            [block.weighted_by(records) if isinstance(block, Shares) else block for block in blocks]
            for blocks in self.columns
        )
        return replace(self, columns=columns)

    def take(self, columns: Sequence[Codes], rows: Codes) -> Floats:
        """Return features, shape (n, features), of n rows of the design's ``columns``.

        NaN where a number is unknown.
        """
        parts = [
            block.take(codes[rows])
            for codes, blocks in zip(columns, self.columns, strict=True)
            for block in blocks
        ]
        return np.hstack(parts) if parts else np.zeros((len(rows), 0))


def read_ends(rows: Sequence[Floats], ends: Sequence[tuple[int, Ends]]) -> None:
    """Replace, in place, each number by the finest interval of the training rows, ``rows[0]``.

    The interval goes from the last start at or before the number to the first end at or after it,
    or to the outermost where there is none. So a threshold between neighbours is a bound, however
    the intervals overlap. ``ends`` are those of a space.
    """
    for first, block in ends:
        for at, side, less in _SIDES:
            known = np.unique(rows[0][:, first + at])
            known = known[~np.isnan(known)]
            if not len(known):
                continue
            for each in rows:
                values = each[:, first + at]
                rank = np.searchsorted(known, values, side=side) - less
                rank = np.clip(rank, 0, len(known) - 1)
                own = rank if block.is_ranked else known[rank]
                each[:, first + at] = np.where(np.isnan(values), np.nan, own)
        if block.is_mean:
            for each in rows:
                each[:, first] = each[:, first : first + 2].mean(axis=1)
                each[:, first + 1] = 0.0
