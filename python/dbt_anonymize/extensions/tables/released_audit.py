"""Audit of the hidden cells of a released table, by what is shown and contributors know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dbt_anonymize.extensions.tables.audit import intervals, known_of_totals
from dbt_anonymize.extensions.tables.contributors import telling_knowledge
from dbt_anonymize.extensions.tables.declared import RECORDS
from dbt_anonymize.extensions.tables.efforts import DECIMALS
from dbt_anonymize.extensions.tables.errors import TableError, UnknownLabelError
from dbt_anonymize.extensions.tables.few_people import ROOM, FewPeople, told_of_few
from dbt_anonymize.extensions.tables.hidden import Interval, least_of_published
from dbt_anonymize.extensions.tables.programs import Known
from dbt_anonymize.extensions.tables.reading import Published, read_table
from dbt_anonymize.extensions.tables.recount import Cell, Counted
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.verify.finding import Finding

if TYPE_CHECKING:
    from dbt_anonymize.arrays import Bools, Floats
    from dbt_anonymize.extensions.tables.cube import Dimension
    from dbt_anonymize.extensions.tables.declared import Table


class Released(NamedTuple):
    """The released table, the effort that it was released by, and whether it is an earlier one."""

    effort: int
    cells: dict[Cell, tuple[Any, ...]]
    ends: dict[Cell, tuple[float | None, float | None]]
    is_earlier: bool


def audited(
    released: Released,
    truth: dict[Cell, Counted],
    table: Table,
    trees: Mapping[str, Dimension],
    hidden: Callable[[], list[Interval]],
) -> Finding:
    """Audit the hidden cells by what is shown and contributors know."""
    least = table.minimum_frequency
    small = {cell for cell, one in truth.items() if one.people < least}
    shown = {c for c in small & released.cells.keys() if released.cells[c][-1] != "hidden"}
    try:
        told = [one for one in hidden() if one.labels in small and not one.hides(least)]
        sums = [_told_sums(released.cells, truth, table, trees, name) for name in table.summed]
    except UnknownLabelError as error:
        # The source no longer has the labels of an earlier table, nor whose part they are.
        is_known = not released.is_earlier
        return Finding(
            "guarantees", "table", False if is_known else None, str(error), is_warning=not is_known
        )
    except TableError as error:  # somebody changed the release
        return Finding("guarantees", "table", holds=False, message=str(error))
    broken = len(shown) + len(told) + sum(sums)
    of_sums = f", and no sum of which few have too much ({', '.join(table.sums)})"
    return Finding(
        "guarantees",
        "table",
        not broken,
        f"no cell with 1 to {least - 1} people may be shown, or be told by the others"
        f"{of_sums if table.sums else ''}; of {pluralized(len(small), 'small cell')} and sums "
        f"{broken or 'none'} is" + (". Run `dbt build`, and withdraw the table." if broken else ""),
    )


def published(
    released: dict[Cell, tuple[Any, ...]],
    table: Table,
    trees: Mapping[str, Dimension],
    place: int,
) -> Published:
    """Read one figure of released cells, the count first, as readers do."""
    rows = [(*cell, figures[place]) for cell, figures in released.items()]
    return read_table(rows, table.dimensions, None, trees=trees)


def _told_sums(
    released: dict[Cell, tuple[Any, ...]],
    truth: dict[Cell, Counted],
    table: Table,
    trees: Mapping[str, Dimension],
    name: str,
) -> int:
    """Return how many of a measure break a rule and are shown, or told by the others.

    An earlier table has no contributions to judge by.
    """
    judged = [cell for cell in released if cell in truth and truth[cell].largest]
    if not judged:
        return 0
    place, column = table.summed.index(name), (table.counts, *table.sums).index(name)
    totals = np.array([truth[cell].figures[column] for cell in judged])
    first, second = np.array([truth[cell].largest[place] for cell in judged]).T
    shown = published(released, table, trees, column)
    rows = {cell: row for row, cell in enumerate(released)}
    cells = shown.of_row[[rows[cell] for cell in judged]]
    if column:
        primary, within = table.rules.of_sums(totals, first, second), 10**-DECIMALS
        room = within * shown.cube.size + 1e-6 * np.abs(totals)
    else:
        people = np.array([truth[cell].people for cell in judged])
        primary, within = table.rules.of_records(totals, people, first, second), 0.0
        room = np.full(len(totals), ROOM)
    is_hidden = shown.is_hidden[cells]
    asked = np.flatnonzero(primary.is_primary & is_hidden)

    def told_by(least: Floats) -> Bools:
        at_least = known_of_totals(shown.cube, least, shown.values == 0)[cells]
        lower = np.minimum(primary.lower, np.maximum(totals - at_least, 0.0))
        bounds = Known.of_published(shown.values, within=within, least=least)
        low, high = intervals(shown.cube, bounds, cells[asked])
        is_low = low > (totals - lower + room)[asked]
        return np.asarray(is_low | (high < (totals + primary.upper - room)[asked]))

    everybody = least_of_published(shown, 0.0 if column else 1.0)
    own = np.zeros(shown.cube.size)
    own[cells] = np.minimum(first, totals)
    is_told = told_by(everybody)
    for least in telling_knowledge(
        everybody,
        own,
        cells[shown.cube.is_inner[cells] & is_hidden],
        are_apart=table.counts != RECORDS,
        tells=lambda least: bool(told_by(least).any()),
    ):
        is_told |= told_by(least)
    wrong = int((primary.is_primary & ~is_hidden).sum() + is_told.sum())
    if column:
        return wrong
    records = np.nan_to_num(shown.values)
    records[cells] = totals
    few = {cell: truth[one].few for cell, one in zip(cells.tolist(), judged, strict=True)}
    few_people = FewPeople({cell: people for cell, people in few.items() if people}, table.rules)
    is_unknown, least = np.isnan(shown.values), np.maximum(everybody, own)
    return wrong + sum(1 for _ in told_of_few(shown, records, least, is_unknown, few_people))
