"""Hierarchies as positions: the label of each leaf at each level.

Category labels are ordered by text and interval labels by bound, so that neighbours are
neighbours. ``*`` carries no information and has the position `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.relations import SOURCE, column_kind, number_sql, query, text_sql
from dbt_anonymize.evaluation.data.spaces import UNKNOWN

if TYPE_CHECKING:
    import duckdb


ROOT = "*"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A hierarchy of one quasi-identifier.

    Attributes
    ----------
    leaves : array of str or float, shape (leaves,)
        Sorted: values of a category, lower bounds of an interval.
    texts : tuple of sequence of str or None
        Label of each leaf, from level 1 upward.
    uppers : array of float, shape (leaves,)
        Upper bounds of an interval.
    """

    name: str
    leaves: NDArray[Any]
    texts: tuple[Sequence[str | None], ...]
    uppers: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    _positions: dict[int, Ints] = field(default_factory=dict, repr=False)

    @property
    def levels(self) -> int:
        """The highest level."""
        return len(self.texts)

    @cached_property
    def is_interval(self) -> bool:
        """Tell whether leaves are intervals."""
        return self.leaves.dtype.kind == "f"

    def positions(self, level: int) -> Ints:
        """Return the position of the label of each leaf in order; at level 0 that of the leaf.

        A missing level or label is an `EvaluationError`.
        """
        if level not in self._positions:
            self._positions[level] = self._compute_positions(level)
        return self._positions[level]

    def generalize(self, leaves: Ints, level: int) -> Ints:
        """Return the position of each leaf's label at a level; `UNKNOWN` for `UNKNOWN`."""
        return np.where(leaves == UNKNOWN, UNKNOWN, self.positions(level)[leaves])

    def labels(self, level: int) -> list[str]:
        """Return the labels of a category level in the order of their positions."""
        if level == 0:
            return [str(leaf) for leaf in self.leaves]
        texts = dict(zip(self.positions(level).tolist(), self.texts[level - 1], strict=True))
        return [str(texts[position]) for position in sorted(set(texts) - {UNKNOWN})]

    def size(self, level: int) -> int:
        """Return the number of labels of a level, without ``*``."""
        return int(self.positions(level).max(initial=UNKNOWN)) + 1

    def bounds(self, level: int) -> Floats:
        """Return both bounds of each interval of a level, shape (labels, 2)."""
        own = self.positions(level)
        is_known = own != UNKNOWN
        bounds = np.tile([np.inf, -np.inf], (self.size(level), 1))
        np.minimum.at(bounds[:, 0], own[is_known], self.leaves[is_known])
        np.maximum.at(bounds[:, 1], own[is_known], self.uppers[is_known])
        return bounds

    def ancestors(self, level: int, coarser: int) -> Ints:
        """Return for each label of a level its position at a coarser one.

        `UNKNOWN` for ``*``, and where the hierarchy is not nested: leaves of the label diverge.
        """
        own, above = self.positions(level), self.positions(coarser)
        is_known = own != UNKNOWN
        lowest = np.full(self.size(level), np.iinfo(np.int64).max)
        highest = np.full(self.size(level), UNKNOWN)
        np.minimum.at(lowest, own[is_known], above[is_known])
        np.maximum.at(highest, own[is_known], above[is_known])
        return np.where(lowest == highest, highest, UNKNOWN)

    def leaf_of(self, numbers: Floats) -> Ints:
        """Return the interval leaf that holds each number; `UNKNOWN` for NaN."""
        leaves = np.clip(np.searchsorted(self.leaves, numbers, side="right") - 1, 0, None)
        return np.where(np.isnan(numbers), UNKNOWN, leaves)

    def _compute_positions(self, level: int) -> Ints:
        if level == 0:
            return np.arange(len(self.leaves))
        if level > self.levels:
            raise EvaluationError(
                f"hierarchy of `{self.name}` must have the column level_{level} to be read at that "
                f"level; got {self.levels} levels. Correct the level in the spec or add the column."
            )
        texts = self.texts[level - 1]
        missing = sum(text is None for text in texts)
        if missing:
            raise EvaluationError(
                f"hierarchy of `{self.name}` must give each value one label at level {level}; got "
                f"{missing} of {len(texts)} without a label. Correct the hierarchy."
            )
        known = dict.fromkeys(text for text in texts if text != ROOT)
        ordered = known if self.is_interval else sorted(map(str, known))
        place = {text: position for position, text in enumerate(ordered)}
        return np.array([place.get(text, UNKNOWN) for text in texts], dtype=np.int64)


def read_hierarchy(name: str, kind: str, relation: duckdb.DuckDBPyRelation) -> Hierarchy:
    """Read the hierarchy of a quasi-identifier from a relation with one row per leaf.

    Its columns are ``lower_bound`` and ``upper_bound`` (``kind`` interval) or ``value``
    (categorical), then ``level_1``, ``level_2``, …. No leaf, or a leaf with different labels, is an
    `EvaluationError`.
    """
    columns = {column.lower() for column in relation.columns}
    levels = 0
    while f"level_{levels + 1}" in columns:
        levels += 1
    if kind == "interval":
        leaf, *uppers = (_bound_sql(name, relation, f"{end}_bound") for end in ("lower", "upper"))
    else:
        leaf, uppers = f"encode({text_sql('value')})", []
    # Bytes: a collation could treat different labels as equal.
    labels = [f"encode({text_sql(f'level_{level}')})" for level in range(1, levels + 1)]
    sql = f"select distinct {', '.join([leaf, *labels, *uppers])} from {SOURCE} order by all"  # noqa: S608
    fetched = query(relation, sql).fetchall()
    rows = [[_decode(cell) for cell in row] for row in fetched if row[0] is not None]
    leaves = np.array([row[0] for row in rows], dtype=float if kind == "interval" else object)
    if not rows or len(set(leaves.tolist())) < len(rows):
        raise EvaluationError(
            f"hierarchy of `{name}` must give each value one label at each level; got {len(rows)} "
            f"rows for {len(set(leaves.tolist()))} values. Correct the hierarchy."
        )
    texts = tuple(tuple(row[level] for row in rows) for level in range(1, levels + 1))
    bounds = np.array([row[levels + 1] for row in rows] if uppers else [], dtype=float)
    return Hierarchy(name, leaves, texts, bounds)


def _bound_sql(name: str, relation: duckdb.DuckDBPyRelation, column: str) -> str:
    kind = column_kind(relation, column)
    if kind == "text":
        raise EvaluationError(
            f"hierarchy of `{name}` must have bounds that are numbers or dates; got text. "
            "Check the hierarchy's kind in the spec."
        )
    return number_sql(column, kind)


def _decode(cell: Any) -> Any:
    return cell.decode("utf-8") if isinstance(cell, bytes) else cell
