"""Intervals of small cells that a protected table tells, and QNF, which follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.extensions.tables.audit import intervals
from dbt_anonymize.extensions.tables.declared import PEOPLE
from dbt_anonymize.extensions.tables.errors import NotAdditiveError, TableError
from dbt_anonymize.extensions.tables.hiding import Measure, judged
from dbt_anonymize.extensions.tables.primary import TableRules
from dbt_anonymize.extensions.tables.programs import Known
from dbt_anonymize.extensions.tables.suppression import LARGEST_CHECKED, narrow_cells, reachable

if TYPE_CHECKING:
    import pandas as pd

    from dbt_anonymize.arrays import Bools, Floats, Ints
    from dbt_anonymize.extensions.tables.reading import Published


@dataclass(frozen=True)
class Told:
    """Intervals of the small cells of a measure, by rows of cells; nothing may bound one above.

    ``demanded`` is the width that an interval must have.
    """

    measure: str
    rows: Ints
    lowest: Floats
    highest: Floats
    demanded: Floats


def qnf_of(told: Sequence[Told]) -> float:
    """Return the smallest w / (w + d) over all small cells, 1 where there is none."""
    shares = [1.0]
    for one in told:
        width = one.highest - one.lowest
        shares += [*(1 - one.demanded / (width + one.demanded))]
    return float(min(shares))


def told_of_hidden(
    measure: str, table: Published, judgement: tuple[Measure, Floats], is_hidden: Bools
) -> Told:
    """Return what is told to everybody of one measure of a table with hidden cells.

    ``judgement`` has the measure, and how much everybody knows of hidden cells. Raises a
    `TableError` where an interval ends too early at either side.
    """
    (figures, primary, _), least = judgement
    demanded = reachable(table.cube, figures, primary, least)
    if narrow_cells(table.cube, figures, demanded, is_hidden, least).any():
        raise told_by_earlier()
    found = np.flatnonzero(primary.is_primary)
    low, high = _ends_of_hidden(table, figures, is_hidden, least, found)
    width = (demanded.lower + demanded.upper)[found]
    return Told(measure, _rows(table)[found], low, high, width)


def told_by_earlier() -> TableError:
    """Return the error of small cells that earlier ones give away."""
    return TableError(
        "small cells must stay hidden beside those of an earlier release, which keep their "
        "status; some would be told too closely"
    )


def _ends_of_hidden(
    table: Published, figures: Floats, is_hidden: Bools, least: Floats, cells: Ints
) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value that readers of all shown cells cannot exclude."""
    known = Known.of_hidden(figures, is_hidden, least)
    are_integers = bool((figures == np.round(figures)).all())
    return intervals(table.cube, known, cells, are_integers=are_integers)


def told_of_changed(
    table: Published, cells: pd.DataFrame, likely: tuple[Ints, Ints], rules: TableRules
) -> Told:
    """Return what is told where each shown count is likely of counts between two ends.

    An interval as wide as the minimum frequency less one is demanded, wherever it lies.
    """
    demanded, (low, high) = rules.minimum_frequency - 1.0, likely
    try:
        ((counts, primary, _),) = judged(table, cells, PEOPLE, {}, rules)
    except NotAdditiveError:
        # People are in several cells: a total narrows no cell but to what it has itself.
        counts = cells[PEOPLE].to_numpy(dtype=float)
        found = np.flatnonzero(rules.of_counts(counts).is_primary)
        ends = low[found].astype(float), high[found].astype(float)
        return Told(PEOPLE, found, *ends, np.full(len(found), demanded))
    if table.cube.size > LARGEST_CHECKED:
        raise TableError(
            f"a table must have at most {LARGEST_CHECKED:,} cells, totals included, to be checked "
            f"as a whole; got {table.cube.size:,}. Coarsen a dimension"
        )
    # Everybody sees which cells have a row: somebody is in those, and nobody in the others.
    lowest = np.zeros(table.cube.size)
    highest = np.where(table.is_shown, 0.0, np.inf)
    is_row = table.is_shown[table.of_row]
    lowest[table.of_row[is_row]], highest[table.of_row[is_row]] = low[is_row], high[is_row]
    found = np.flatnonzero(primary.is_primary)
    # A far-fetched change that occurred is reckoned with: without it there may be no such table.
    known = Known(np.minimum(lowest, counts), np.maximum(highest, counts))
    ends = intervals(table.cube, known, found, are_integers=True)
    return Told(PEOPLE, _rows(table)[found], *ends, np.full(len(found), demanded))


def _rows(table: Published) -> Ints:
    """Return the row of each cell; each that somebody is in has one."""
    rows = np.full(table.cube.size, -1)
    rows[table.of_row] = np.arange(len(table.of_row))
    return rows
