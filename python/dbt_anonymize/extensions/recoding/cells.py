"""Cell suppression: single cells of records in weak classes become `*`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.recoding.judging import Judge
from dbt_anonymize.extensions.recoding.levels import read_levels
from dbt_anonymize.extensions.recoding.records import Source
from dbt_anonymize.extensions.recoding.runs import run_positions

if TYPE_CHECKING:
    import duckdb


def cell_suppression(
    source: Source, *, levels: Mapping[str, int], importance: Mapping[str, float] | None = None
) -> duckdb.DuckDBPyRelation:
    """Return one row per record, at its base levels or `*`.

    A pass takes the quasi-identifiers by ascending importance, equal ones as declared; the default
    of ``importance`` is 1.
    """
    records, ladders = read_levels(source, [levels])
    cells = [
        ladder.codes[levels[name]][keys]
        for ladder, name, keys in zip(ladders, source.names, records.key_of_row, strict=True)
    ]
    weights = [(importance or {}).get(name, 1.0) for name in source.names]
    order = sorted(range(len(cells)), key=weights.__getitem__)
    hidden = hidden_cells(cells, Judge.of(records), order)
    labelled = [
        ladder.labels(keys, np.full(len(records), levels[name]), is_hidden)
        for ladder, name, keys, is_hidden in zip(
            ladders, source.names, records.key_of_row, hidden, strict=True
        )
    ]
    return records.recoded([labels for labels, _ in labelled], [ids for _, ids in labelled])


def hidden_cells(cells: Sequence[Ints], judge: Judge, order: Sequence[int]) -> list[Bools]:
    """Return a mask of the rows that show `*`, for each quasi-identifier.

    ``cells`` are codes of labels at the base levels, 0 of `*`. Each step is about one
    quasi-identifier, in ``order``: the weak classes that show it are merged without it, and with
    classes that have `*` there already. Where the merged class keeps every guarantee, they lose the
    cell. After a pass, classes that are still weak lose their first shown cell, after the last pass
    all. The order of rows never counts, and equal rows stay equal.
    """
    table = _Cells(cells, judge)
    for number in range(1, len(order) + 1):
        for place in order:
            table.hide(place)
        if not table.is_weak.any():
            break
        table.suppress_first(order, takes_all=number == len(order))
    return [codes[table.group_of_row] == 0 for codes in table.cells.T]


class _Cells:
    """Groups of rows with the same base labels: their current labels, and a mask of weak ones."""

    def __init__(self, cells: Sequence[Ints], judge: Judge) -> None:
        self._judge, self._sizes = judge, [int(codes.max(initial=0)) + 1 for codes in cells]
        rows = len(cells[0])
        keys = self._keys(np.column_stack(cells)) if rows else np.zeros(0, dtype=np.int64)
        _, first, self.group_of_row = np.unique(keys, return_index=True, return_inverse=True)
        self.cells = np.column_stack([codes[first] for codes in cells])
        self._rows = np.argsort(self.group_of_row, kind="stable")
        self._starts = np.searchsorted(
            self.group_of_row[self._rows], np.arange(len(first) + 1), side="left"
        )
        self.keys = self._keys(self.cells)
        self.is_weak = np.zeros(len(first), dtype=np.bool_)
        self._count(np.arange(len(first)))

    def _keys(self, cells: Ints) -> NDArray[Any]:
        """Return a key of each row of cells, one integer if it is large enough."""
        if np.prod([float(size) for size in self._sizes]) < 2.0**62:
            return cells @ np.cumprod([1, *self._sizes[:-1]])
        texts = np.ascontiguousarray(cells, dtype=">u4")
        return texts.view(f"S{texts.shape[1] * 4}").reshape(-1)

    def _violating(self, groups: Ints, keys: NDArray[Any]) -> Bools:
        """Return a mask of the groups in weak classes, by these keys."""
        if not len(groups):
            return np.zeros(0, dtype=np.bool_)
        classes, of_group = np.unique(keys, return_inverse=True)
        sizes = self._starts[groups + 1] - self._starts[groups]
        rows = self._rows[run_positions(self._starts[groups], sizes)]
        violating = self._judge.violating(rows, np.repeat(of_group, sizes), len(classes))
        return violating[of_group]

    def _count(self, groups: Ints) -> None:
        """Judge the classes of some groups anew; groups must be complete classes."""
        is_shown = (self.cells[groups] != 0).any(axis=1)
        self.is_weak[groups] = self._violating(groups, self.keys[groups]) & is_shown

    def hide(self, place: int) -> None:
        """Suppress a cell of the weak classes that keep all guarantees without it."""
        weak = np.flatnonzero(self.is_weak & (self.cells[:, place] != 0))
        if not len(weak):
            return
        cells = self.cells[weak].copy()
        cells[:, place] = 0
        keys = self._keys(cells)
        there = np.flatnonzero(np.isin(self.keys, keys))
        tried = np.concatenate([keys, self.keys[there]])
        is_kept = ~self._violating(np.concatenate([weak, there]), tried)
        moved = is_kept[: len(weak)]
        self.cells[weak[moved], place] = 0
        self.keys[weak[moved]] = keys[moved]
        self.is_weak[weak[moved]] = False
        self.is_weak[there[is_kept[len(weak) :]]] = False

    def suppress_first(self, order: Sequence[int], *, takes_all: bool) -> None:
        """Suppress the first shown cell of all weak classes, or all their cells."""
        weak = np.flatnonzero(self.is_weak)
        cells = self.cells[weak]
        if takes_all:
            cells[:] = 0
        else:
            first = (cells[:, list(order)] != 0).argmax(axis=1)
            cells[np.arange(len(weak)), np.array(order)[first]] = 0
        self.cells[weak], self.keys[weak] = cells, self._keys(cells)
        self._count(np.flatnonzero(np.isin(self.keys, np.unique(self.keys[weak]))))
