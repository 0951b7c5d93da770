"""Cells of a table, counted by hand, in the place of what the warehouse counts."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dbt_anonymize.extensions.tables.declared import Table
from dbt_anonymize.extensions.tables.efforts import table_efforts
from dbt_anonymize.extensions.tables.reading import cell_text

Labels = tuple[str, ...]
Coarser = Callable[[str, int], str]


@dataclass(frozen=True)
class Frame:
    """A relation of which only the rows are asked for."""

    frame: pd.DataFrame

    def filter(self, condition: str) -> Frame:
        """Return the rows of some efforts."""
        efforts = [int(number) for number in re.findall(r"\d+", condition)]
        return Frame(self.frame[self.frame["effort"].isin(efforts)])

    def df(self) -> pd.DataFrame:
        """Return the rows."""
        return self.frame


def by_first_letters(label: str, level: int) -> str:
    """Return a label without its last characters, one for each level."""
    return label[: len(label) - level]


def counted(
    people: Sequence[tuple[Labels, int]],
    table: Table,
    *,
    released: Mapping[tuple[int, str], tuple[str, bool]] | None = None,
    coarser: Coarser = by_first_letters,
) -> tuple[Frame, Frame]:
    """Return ``<n>_table_cells`` and ``<n>_table_labels`` of people, each with labels and a key."""
    cells, labels = [], set()
    finest = table.levels(0)
    for number in range(len(table.efforts) + 1):
        levels = table.shown_levels(number)
        found = defaultdict[tuple[tuple[int, str] | None, ...], list[int]](list)
        for own, key in people:
            shown = []
            for name, raw in zip(table.dimensions, own, strict=True):
                categories = [(level, coarser(raw, level)) for level in levels[name]]
                labels |= {(number, name, *c, coarser(raw, finest[name])) for c in categories}
                shown.append([*categories, None])
            for cell in itertools.product(*shown):
                found[cell].append(key)
        for cell, keys in found.items():
            row: dict[str, Any] = {}
            for name, category in zip(table.dimensions, cell, strict=True):
                row[name] = category and category[1]
                if column := table.level_columns.get(name):
                    row[column] = category and category[0]
            text = text_of(table, row)
            status, is_same = (released or {}).get((number, text), (None, False))
            row |= {"effort": number, "cell": text, "people": len(keys), "keys": sum(keys)}
            cells.append(row | {"released": status, "is_same": is_same})
    columns = ["effort", "dimension", "level", "label", "finest_label"]
    return Frame(pd.DataFrame(cells)), Frame(pd.DataFrame(sorted(labels), columns=columns))


def text_of(table: Table, row: Mapping[str, Any]) -> str:
    """Return the joined labels of a cell, with the level where a dimension has subtotals."""
    levels = table.level_columns
    return cell_text(
        {
            name: row[name]
            and (f"{row[levels[name]]}^{row[name]}" if name in levels else row[name])
            for name in table.dimensions
        }
    )


def protected(
    people: Sequence[tuple[Labels, int]], table: Mapping[str, Any], **given: Any
) -> tuple[dict[int, dict[Labels, tuple[Any, str]]], dict[int, dict[str, Any]]]:
    """Return the cells of each effort, count and status by labels, and what is said of efforts.

    With the key ``small`` of an effort: both ends of each small cell, by measure and labels; with
    ``intervals`` those that are shown of each cell.
    """
    declared = Table.model_validate(table)
    cells, labels = counted(people, declared, **given)
    rows = table_efforts(cells, labels, declared.model_dump_json(exclude_unset=True))  # type: ignore[arg-type]
    shown = defaultdict[int, dict[Labels, tuple[Any, str]]](dict)
    told: dict[int, dict[str, Any]] = defaultdict(lambda: {"small": {}, "intervals": {}})
    for row in rows.astype(object).where(rows.notna(), None).to_dict("records"):
        of_effort, cell = told[row["effort"]], tuple(row[name] for name in declared.dimensions)
        if row["kind"] == "effort":
            of_effort |= row
        elif row["kind"] == "small":
            of_effort["small"][(row["measure"], cell)] = (row["lowest"], row["highest"])
        elif declared.intervals:
            of_effort["intervals"][cell] = tuple(row[name] for name in declared.interval)
        if row["kind"] != "cell":
            continue
        shown[row["effort"]][cell] = (row["people"], row["status"])
    return dict(shown), dict(told)
