"""Mondrian multidimensional partitioning over the distinct rows of a table, round by round.

A round cuts all parts at once: each along the attribute that spans the widest share of its domain,
if every side keeps k and the other guarantees, else along the next widest; a part that no attribute
can cut is finished. Ties are decided by the order of the attributes and of the codes.

    with NULLs     NULLs are separated from the values first: their label is `*`, the widest
    interval       into two between leaves, so that the smaller side is largest; relaxed: into
                   halves, and the rows of the middle leaf are distributed in their order
    categorical    the covering label into the labels below it. Those with fewer than k records stay
                   together under the label itself, with the next smaller ones until they are k: one
                   rare value does not prevent a cut

References
----------
.. [1] K. LeFevre, D. DeWitt and R. Ramakrishnan, *Mondrian multidimensional k-anonymity*, 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.recoding.leaves import Leaves
from dbt_anonymize.extensions.recoding.runs import run_positions, run_starts, running_sums

# From rows, the class of each and the number of classes: a mask of classes that break a guarantee.
Violating = Callable[[Ints, Ints, int], Bools]


@dataclass(frozen=True)
class _Parts:
    """Rows ordered by part, and the start of each part."""

    rows: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> Ints:
        """Rows of each part."""
        return np.diff(self.starts, append=len(self.rows))

    def of_rows(self) -> Ints:
        """Return the part of each row, in the order of ``rows``."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def take(self, parts: Ints) -> _Parts:
        """Return some of the parts, in this order."""
        sizes = self.sizes[parts]
        return _Parts(self.rows[run_positions(self.starts[parts], sizes)], run_starts(sizes))


@dataclass(frozen=True)
class _Table:
    """The rows to cut, and the conditions on their parts."""

    attributes: Sequence[Leaves]
    codes: Sequence[Ints]
    records: Ints
    k: int
    is_strict: bool
    violating: Violating | None


def mondrian(
    attributes: Sequence[Leaves],
    codes: Sequence[Ints],
    records: Ints,
    k: int,
    *,
    is_strict: bool = True,
    violating: Violating | None = None,
) -> Ints:
    """Return the part of each row, 0 and up, each of at least ``k`` records.

    ``codes`` has those of each attribute. Equal rows stay together if ``is_strict``, else each row
    is one record. ``violating`` judges parts by the other guarantees. A table that cannot be cut is
    one part, however small.
    """
    table = _Table(attributes, codes, records, k, is_strict, violating)
    part_of_row = np.zeros(len(records), dtype=np.int64)
    waiting = _Parts(np.arange(len(records)), np.zeros(min(len(records), 1), dtype=np.int64))
    count = 0
    while len(waiting):
        finished, sides = _round(table, waiting)
        parts = waiting.take(finished)
        part_of_row[parts.rows] = count + parts.of_rows()
        count += len(parts)
        waiting = _Parts(
            np.concatenate([side.rows for side in sides]),
            run_starts(np.concatenate([side.sizes for side in sides])),
        )
    return part_of_row


def _round(table: _Table, waiting: _Parts) -> tuple[Ints, list[_Parts]]:
    """Return the parts that no attribute can cut, and the sides of the others."""
    lows, highs, widths = _spans(table, waiting)
    totals = np.add.reduceat(table.records[waiting.rows], waiting.starts)
    widths[totals < 2 * table.k] = -1.0
    widest = np.argsort(-widths, axis=1, kind="stable")
    uncut = np.arange(len(waiting))
    sides = [_Parts(waiting.rows[:0], waiting.starts[:0])]
    for place in range(len(table.attributes)):
        chosen = widest[uncut, place]
        tried = uncut[widths[uncut, chosen] >= 0.0]
        if not len(tried):
            break
        tried = tried[np.argsort(widest[tried, place], kind="stable")]
        chosen = widest[tried, place]
        cut = _Cut(table, waiting.take(tried), chosen, lows[tried, chosen], highs[tried, chosen])
        is_cut, children = cut.sides()
        sides.append(children)
        uncut = np.setdiff1d(uncut, tried[is_cut], assume_unique=True)
    return uncut, sides


def _spans(table: _Table, parts: _Parts) -> tuple[Ints, Ints, Floats]:
    """Return lowest and highest code and width of each attribute, shape (parts, attributes).

    The width is the share of the domain, and -1 for a single value.
    """
    shape = (len(parts), len(table.attributes))
    lows, highs = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    widths = np.empty(shape)
    for place, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True)):
        of_rows = codes[parts.rows]
        low = lows[:, place] = np.minimum.reduceat(of_rows, parts.starts)
        high = highs[:, place] = np.maximum.reduceat(of_rows, parts.starts)
        widths[:, place] = np.where(low == high, -1.0, attribute.spread(low, high))
    return lows, highs, widths


class _Cut:
    """Parts to cut, each along one attribute; attributes ascend.

    Rows are sorted by units that stay whole: leaves of an interval (`halved`), labels below the cut
    one, or NULL and all values. A run is the rows of one unit in a part.
    """

    def __init__(self, table: _Table, parts: _Parts, chosen: Ints, lows: Ints, highs: Ints) -> None:
        self.table, self.parts = table, parts
        self.halved = np.zeros(len(parts), dtype=np.bool_)
        units = np.empty(len(parts.rows), dtype=np.int64)
        ends = np.append(parts.starts, len(parts.rows))
        for attribute in np.unique(chosen):
            some = slice(*np.searchsorted(chosen, [attribute, attribute + 1]))
            rows = slice(ends[some.start], ends[some.stop])
            units[rows] = self._units(attribute, some, rows, lows[some], highs[some])
        keys = parts.of_rows() * (int(units.max()) + 1) + units
        order = np.argsort(keys) if table.is_strict else np.lexsort((parts.rows, keys))
        keys, self.rows = keys[order], parts.rows[order]
        self.starts = np.flatnonzero(np.diff(keys, prepend=-1))
        self.part = parts.of_rows()[self.starts]
        self.firsts = np.searchsorted(self.part, np.arange(len(parts)))
        self.records = np.add.reduceat(table.records[self.rows], self.starts)
        self.totals = np.add.reduceat(self.records, self.firsts)
        self.up_to = self._up_to(self.records)

    def _units(self, attribute: int, some: slice, rows: slice, lows: Ints, highs: Ints) -> Ints:
        leaves = self.table.attributes[attribute]
        codes = self.table.codes[attribute][self.parts.rows[rows]].astype(np.int64)
        has_null, sizes = lows == 0, self.parts.sizes[some]
        if leaves.is_interval:
            self.halved[some] = ~has_null
            units = codes
        else:
            below = np.where(has_null, 0, leaves.cover(lows, highs) - 1)
            units = leaves.covered[1][np.repeat(below, sizes), codes]
        return np.where(np.repeat(has_null, sizes), codes > 0, units) if has_null.any() else units

    def _up_to(self, numbers: Ints) -> Ints:
        return running_sums(numbers, self.firsts, self.part)

    def sides(self) -> tuple[Bools, _Parts]:
        """Return a mask of the parts whose sides all keep the guarantees, and these sides."""
        is_cut, whole, side, starts, sizes = self._segments()
        some = is_cut[whole]
        whole, side, starts, sizes = whole[some], side[some], starts[some], sizes[some]
        order = np.lexsort((side, whole))
        whole, side, sizes = whole[order], side[order], sizes[order]
        rows = self.rows[run_positions(starts[order], sizes)]
        is_first = np.ones(len(whole), dtype=np.bool_)
        is_first[1:] = (np.diff(whole) != 0) | (np.diff(side) != 0)
        children = np.flatnonzero(is_first)
        sides = _Parts(rows, run_starts(sizes)[children])
        if self.table.violating and len(sides):
            refused = self.table.violating(rows, sides.of_rows(), len(sides))
            is_cut[whole[children[refused]]] = False
            sides = sides.take(np.flatnonzero(is_cut[whole[children]]))
        return is_cut, sides

    def _segments(self) -> tuple[Bools, Ints, Ints, Ints, Ints]:
        """Return a mask of the parts that k lets be cut; part, side, start and size of runs."""
        sizes = np.diff(self.starts, append=len(self.rows))
        is_rest = self._rest()
        is_cut = np.logical_or.reduceat(~is_rest, self.firsts)
        last, position = self._middle()
        first, end = self.starts[self.firsts], self.parts.starts + self.parts.sizes
        smaller = np.minimum(self.up_to[last], self.totals - self.up_to[last])
        is_cut = np.where(
            self.halved, (smaller >= self.table.k) | (not self.table.is_strict), is_cut
        )
        halves = np.flatnonzero(self.halved)
        whole_runs = np.flatnonzero(~self.halved[self.part])
        below = position - first
        return (
            is_cut,
            np.concatenate([halves, halves, self.part[whole_runs]]),
            np.concatenate(
                [
                    halves * 0,
                    halves * 0 + 1,
                    np.where(is_rest, 0, 1 + np.arange(len(is_rest)))[whole_runs],
                ]
            ),
            np.concatenate([first[halves], position[halves], self.starts[whole_runs]]),
            np.concatenate([below[halves], (end - position)[halves], sizes[whole_runs]]),
        )

    def _middle(self) -> tuple[Ints, Ints]:
        """Return the last run below the cut of each part in halves, and the position of the cut."""
        totals = self.totals[self.part]
        if self.table.is_strict:
            distance = np.abs(4 * self.up_to - 2 * totals + 1)
        else:
            distance = np.where(2 * self.up_to >= totals, self.up_to, 2 * totals)
        least = np.minimum.reduceat(distance, self.firsts)
        nearest = np.flatnonzero(distance == least[self.part])
        last = nearest[np.searchsorted(self.part[nearest], np.arange(len(self.parts)))]
        if self.table.is_strict:
            return last, np.append(self.starts, len(self.rows))[last + 1]
        return last, self.starts[last] + self.totals // 2 - (self.up_to - self.records)[last]

    def _rest(self) -> Bools:
        """Return a mask of the units that stay together: those below k, and the next up to k."""
        order = np.lexsort((self.records, self.part))
        records = self.records[order]
        before = self._up_to(records) - records
        rest = np.empty(len(records), dtype=np.bool_)
        rest[order] = (records < self.table.k) | ((before >= 1) & (before < self.table.k))
        return rest
