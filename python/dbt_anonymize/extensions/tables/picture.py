"""Released tables as crosstabs, which show released figures and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from dbt_anonymize.extensions.tables.declared import INTERVALS, PEOPLE, RECORDS
from dbt_anonymize.extensions.tables.reading import STATUS
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.sections import Cell, Section

HIDDEN = "hidden"
ALL = "all"
MISSING = "*"
# A page holds so many tables, rows and columns, totals beside them.
MOST_TABLES, MOST_ROWS, MOST_COLUMNS = 12, 40, 12
_LEVEL = "_level"
_STATUSES = {
    HIDDEN: "`hidden` stands in all hidden cells: which of them are small is not told.",
    "perturbed": "All counts are perturbed: they have noise, and do not add up.",
    "rounded": "All counts are rounded, up or down at random, and do not add up.",
}


class Label(NamedTuple):
    """A label, and its level above the finest labels of its dimension."""

    level: int
    text: str

    @property
    def shown(self) -> str:
        """The label; of a subtotal, with its level."""
        return f"{self.text} (level +{self.level})" if self.level else self.text


# A label for each dimension; None in a total over all of them.
Place = tuple[Label | None, ...]


@dataclass(frozen=True)
class Picture:
    """A released table: figures and status of each cell, a figure for each of ``measures``.

    ``intervals`` are columns between whose numbers a count may be, which are not drawn.
    """

    dimensions: tuple[str, ...]
    measures: tuple[str, ...]
    cells: dict[Place, tuple[Any, ...]]
    intervals: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Picture:
        """Read rows of a released table: dimensions, the count, sums, and ``status``.

        Of a dimension with subtotals a column ``<dimension>_level`` has the levels of its labels.

        Examples
        --------
        >>> rows = [("n1", 1, None, "hidden"), ("north", 3, 7, "published")]
        >>> picture = Picture.of(["ward", "ward_level", "people", "status"], rows)
        >>> picture.dimensions, [label.shown for label in picture.labels[0]]
        (('ward',), ['n1', 'north (level +2)'])
        """
        count = PEOPLE if PEOPLE in columns else RECORDS
        end = columns.index(count)
        levels = {
            place: columns.index(f"{name}{_LEVEL}")
            for place, name in enumerate(columns[:end])
            if f"{name}{_LEVEL}" in columns[:end]
        }
        # A dimension may have such a name itself; its labels are texts.
        levels = {
            place: at
            for place, at in levels.items()
            if not any(isinstance(row[at], str) for row in rows)
        }
        places = [place for place in range(end) if place not in levels.values()]
        intervals = tuple(name for name in columns if name in INTERVALS[count])
        shown = [at for at in range(end, len(columns)) if columns[at] not in intervals]
        finest = {
            place: min((int(row[at]) for row in rows if row[place] is not None), default=0)
            for place, at in levels.items()
        }

        def label(row: Sequence[Any], place: int) -> Label | None:
            if row[place] is None:
                return None
            level = int(row[levels[place]]) - finest[place] if place in levels else 0
            return Label(level, str(row[place]))

        return cls(
            tuple(columns[place] for place in places),
            tuple(columns[at] for at in shown if columns[at] != STATUS),
            {
                tuple(label(row, at) for at in places): tuple(row[at] for at in shown)
                for row in rows
            },
            intervals,
        )

    @cached_property
    def labels(self) -> list[list[Label]]:
        """The labels of each dimension in order, subtotals last."""
        return [
            sorted({one for one in column if one is not None}, key=_order)
            for column in zip(*self.cells, strict=True)
        ]

    @property
    def meanings(self) -> list[str]:
        """Labels that are no values, and what they stand for."""
        has_missing = any(one.text == MISSING for labels in self.labels for one in labels)
        has_totals = any(None in place for place in self.cells)
        found = {f"`{MISSING}` for a missing one": has_missing}
        found[f"`{ALL}` for a total, which is NULL in the table"] = has_totals
        return [meaning for meaning, is_there in found.items() if is_there]

    @property
    def hidden_cells(self) -> int:
        """Number of hidden cells."""
        return sum(figures[-1] == HIDDEN for figures in self.cells.values())

    @cached_property
    def _margins(self) -> set[tuple[bool, ...]]:
        return {tuple(label is not None for label in place) for place in self.cells}

    def is_released(self, place: Place) -> bool:
        """Tell whether cells of these dimensions are released; a missing one is empty then."""
        return tuple(label is not None for label in place) in self._margins

    def figure(self, place: Place, measure: int) -> Cell:
        """Return a figure as it is released: None is in no row, since nobody asked for it."""
        if place not in self.cells:
            return 0 if self.is_released(place) else None
        figure = self.cells[place][measure]
        if figure is None or self.cells[place][-1] == HIDDEN:
            return HIDDEN
        return int(figure) if float(figure).is_integer() else f"{float(figure):,.2f}"

    def sections(self) -> list[Section]:
        """Return the pictures: crosstabs of two dimensions, for each label of the others."""
        if len(self.dimensions) == 1:
            return [self._of_one_dimension()]
        rests = sorted({place[2:] for place in self.cells}, key=_order_of_place)
        tables = list(product(range(len(self.measures)), rests))
        parts = [
            self._crosstab(f"table_{number}", measure, rest)
            for number, (measure, rest) in enumerate(tables[:MOST_TABLES], start=1)
        ]
        if left_out := tables[MOST_TABLES:]:
            tables_left = pluralized(len(left_out), "further table")
            said = (
                f"Left out, since a page would be too long: {tables_left} of other labels or sums."
            )
            parts.append(Section("left_out", f"{tables_left.capitalize()} left out", said))
        return parts

    def margins(self) -> Iterator[Section]:
        """Yield a chart of the counts of each dimension whose margin is released."""
        for at, name in enumerate(self.dimensions):
            labels = self.labels[at]
            places = [self._place({at: label}) for label in labels[:MOST_ROWS]]
            if not any(map(self.is_released, places)):
                continue
            rows = [
                (_shown(label), self.figure(place, 0))
                for label, place in zip(labels, places, strict=False)
            ]
            yield Section(
                f"margin_{at}",
                f"{self.measures[0].capitalize()} by {name}",
                self._said(places) + _left_out(labels, name),
                (name, self.measures[0]),
                rows,
                mark=HIDDEN,
                **_bars(rows, self.measures[0]),
            )

    def _of_one_dimension(self) -> Section:
        (labels,), (name,) = self.labels, self.dimensions
        places: list[Place] = [(label,) for label in labels[:MOST_ROWS]]
        places += [(None,)] if self.is_released((None,)) else []
        return Section(
            "table_1",
            f"The released table: {name}",
            self._said(places) + _left_out(labels, name),
            (name, *self.measures),
            [
                (_shown(place[0]), *(self.figure(place, at) for at in range(len(self.measures))))
                for place in places
            ],
            is_open=True,
            mark=HIDDEN,
        )

    def _crosstab(self, key: str, measure: int, rest: Place) -> Section:
        """Return a table of one measure, the dimension with more labels down."""
        fixed = dict(enumerate(rest, start=2))
        down, across = sorted((0, 1), key=lambda at: -len(self.labels[at]))
        lines, columns = self.labels[down], self.labels[across]

        def place(line: Label | None, column: Label | None) -> Place:
            return self._place({**fixed, down: line, across: column})

        across_shown = [
            column
            for column in (*columns[:MOST_COLUMNS], None)
            if any(self.is_released(place(line, column)) for line in (*lines[:1], None))
        ]
        rows = [
            (_shown(line), cells)
            for line in (*lines[:MOST_ROWS], None)
            if any(map(self.is_released, cells := [place(line, one) for one in across_shown]))
        ]
        of = [
            f"{name}: {_shown(label)}"
            for name, label in zip(self.dimensions[2:], rest, strict=True)
        ]
        title = f"{self.measures[measure].capitalize()}, " * (len(self.measures) > 1)
        title += f"{self.dimensions[down]} by {self.dimensions[across]}"
        return Section(
            key,
            "; ".join([title, *of]),
            self._said([cell for _, cells in rows for cell in cells])
            + _left_out(lines, self.dimensions[down])
            + _left_out(columns, self.dimensions[across], MOST_COLUMNS),
            (self.dimensions[down], *map(_shown, across_shown)),
            [(shown, *(self.figure(cell, measure) for cell in cells)) for shown, cells in rows],
            is_open=key == "table_1",
            mark=HIDDEN,
        )

    def _place(self, labels: dict[int, Label | None]) -> Place:
        return tuple(labels.get(at) for at in range(len(self.dimensions)))

    def _said(self, places: Sequence[Place]) -> str:
        """Say of which kind the figures of some cells are."""
        found = {self.cells[place][-1] for place in places if place in self.cells}
        said = [text for status, text in _STATUSES.items() if status in found]
        if not said:
            said = ["Every cell is as it was counted."]
        if not all(map(self.is_released, places)):
            said.append("`-` is not released.")
        return " ".join(said)


def _order(label: Label) -> tuple[Any, ...]:
    """Return a key by which numbers within labels are in order, and `*`, NULL, comes last.

    Examples
    --------
    >>> labels = [Label(0, text) for text in ("*", "[10, 20)", "[5, 10)", "[-5, 5)", "x")]
    >>> [label.text for label in sorted(labels, key=_order)]
    ['[-5, 5)', '[5, 10)', '[10, 20)', 'x', '*']
    """
    parts = re.split(r"((?<![\w.])-?\d+(?:\.\d+)?|\d+)", label.text)
    keys = [(part, 0.0) if at % 2 == 0 else ("", float(part)) for at, part in enumerate(parts)]
    return label.level, label.text == MISSING, keys, label.text


def _order_of_place(place: Place) -> list[tuple[Any, ...]]:
    """Return a key by which totals come first."""
    return [(label is not None, *(_order(label) if label else ())) for label in place]


def _shown(label: Label | None) -> str:
    return label.shown if label else ALL


def _left_out(labels: Sequence[Label], name: str, most: int = MOST_ROWS) -> str:
    more = len(labels) - most
    return f" Left out: {pluralized(more, 'further label')} of {name}." if more > 0 else ""


def _bars(rows: Sequence[tuple[str, Cell]], count: str) -> dict[str, Any]:
    """Return the chart of counts; a hidden one has no bar, and says so beside its label."""
    named = [(f"{label}: hidden" if found == HIDDEN else label, found) for label, found in rows]
    return {
        "chart": "counts",
        "data": [
            {"label": label, count: figure if isinstance(figure, int) else None}
            for label, figure in named
        ],
        "options": {"order": [label for label, _ in named], "count": count},
    }
