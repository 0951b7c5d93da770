"""Count small cells that attackers compute, of tables with small cells hidden and nothing more.

Twenty-four months of a table of wards, ages and results, in which 3 % of 400 people leave and as
many come each month, are shown in two ways: with the small cells hidden alone, and as the effort
``hide`` of a declared table shows them, with its memory of earlier months. Counted are

- small cells whose count follows exactly from the totals, and those within too narrow an interval;
- cells that are shown in two months in a row and differ by 1 to 4 people who came or left::

    python benchmarks/told_cells.py

Sums over all months; the vault's memory is kept here as the build keeps it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dbt_anonymize.extensions.tables.hidden import hidden_intervals
from dbt_anonymize.extensions.tables.reading import cell_text, read_table
from tests.extensions.tables.counting import protected

WARDS, AGES, RESULTS = "abcdef", "12345", "xyz"
DIMENSIONS = ("ward", "age", "result")
LEAST, MONTHS, PEOPLE, MOVED = 5, 24, 400, 0.03
TABLE = {"dimensions": DIMENSIONS, "minimum_frequency": LEAST, "efforts": [{"method": "hide"}]}
Cells = dict[tuple[str | None, ...], int | None]


def main() -> None:
    """Print a line for each way."""
    chance = random.Random(1)  # noqa: S311 (invented people)
    people = [_person(chance) for _ in range(PEOPLE)]
    naive, ours = _Told(), _Told()
    memory: dict[tuple[str | None, ...], tuple[int, int, str]] = {}
    kept: Cells = {}
    truth_of_kept: Mapping[Any, int] = {}
    for _ in range(MONTHS):
        truth, keys = _counted(people)
        naive.add({c: n if n >= LEAST else None for c, n in truth.items()}, truth)
        released = {
            (1, cell_text(dict(zip(DIMENSIONS, cell, strict=True)))): (
                status,
                (truth.get(cell), keys.get(cell)) == (count, key),
            )
            for cell, (count, key, status) in memory.items()
        }
        shown, told = protected(people, TABLE, released=released)
        if told[1]["refusal"] is None:
            kept, truth_of_kept = {c: n for c, (n, _) in shown[1].items()}, truth
            memory |= {c: (truth[c], keys[c], s) for c, (_, s) in shown[1].items()}
        ours.add(kept, truth_of_kept)
        stay = [one for one in people if chance.random() > MOVED]
        people = stay + [_person(chance) for _ in range(PEOPLE - len(stay))]
    print("way | small cells | told exactly | too closely | differences of 1 to 4")
    for name, one in (("small cells hidden alone", naive), ("hide", ours)):
        print(f"{name} | {one.small:,} | {one.exact:,} | {one.close:,} | {one.differences:,}")


class _Told:
    """Counts of what readers of one way computed, month after month."""

    def __init__(self) -> None:
        self.small = self.exact = self.close = self.differences = 0
        self._before: Cells = {}

    def add(self, shown: Cells, truth: Mapping[Any, int]) -> None:
        rows = [(*cell, count) for cell, count in shown.items()]
        table = read_table(rows, DIMENSIONS, None, are_totals_known=True)
        small = {cell for cell, count in truth.items() if count < LEAST}
        for one in hidden_intervals(table):
            if one.labels in small:
                self.small += 1
                self.exact += one.lowest == one.highest
                self.close += one.lowest < one.highest and not one.hides(LEAST)
        both = [
            c for c in self._before.keys() & shown.keys() if None not in (self._before[c], shown[c])
        ]
        changes = (abs(int(self._before[c] or 0) - int(shown[c] or 0)) for c in both)
        self.differences += sum(0 < change < LEAST for change in changes)
        self._before = shown


def _text(cell: tuple[str | None, ...]) -> str:
    return cell_text(dict(zip(DIMENSIONS, cell, strict=True)))


def _person(chance: random.Random) -> tuple[tuple[str, ...], int]:
    labels = tuple(
        chance.choices(values, weights=range(len(values), 0, -1))[0]
        for values in (WARDS, AGES, RESULTS)
    )
    return labels, chance.randrange(2**32)


def _counted(
    people: list[tuple[tuple[str, ...], int]],
) -> tuple[dict[tuple[str | None, ...], int], dict[tuple[str | None, ...], int]]:
    truth: dict[tuple[str | None, ...], int] = {}
    keys: dict[tuple[str | None, ...], int] = {}
    for labels, key in people:
        for kept in range(2 ** len(labels)):
            cell = tuple(one if kept >> place & 1 else None for place, one in enumerate(labels))
            truth[cell] = truth.get(cell, 0) + 1
            keys[cell] = keys.get(cell, 0) + key
    return truth, keys


if __name__ == "__main__":
    main()
