"""Intervals of the cells that a published table hides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.tables.audit import intervals, known_of_totals
from dbt_anonymize.extensions.tables.programs import Known
from dbt_anonymize.extensions.tables.reading import (
    STATUS,
    Published,
    read_table,
    refuse_unfit_columns,
    status_of,
)
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    from dbt_anonymize.arrays import Floats
    from dbt_anonymize.project.warehouse import Warehouse


class Interval(NamedTuple):
    """Smallest and largest possible count of a hidden cell; labels are None of a total.

    ``least`` is what everybody knows without the table: where no hidden cell is empty, a total has
    as many people as cells.
    """

    labels: tuple[str | None, ...]
    lowest: float
    highest: float
    least: float = 0.0

    def hides(self, minimum_frequency: int) -> bool:
        """Tell whether the cell may have the minimum frequency, and an interval wide enough.

        Examples
        --------
        >>> Interval(("a",), 1, 5).hides(5), Interval(("a",), 0, 4).hides(5)
        (True, False)
        >>> Interval((None,), 3, 5).hides(5), Interval((None,), 3, 5, least=3).hides(5)
        (False, True)
        """
        return self.highest >= minimum_frequency and (
            self.highest - self.lowest >= minimum_frequency - 1 or self.lowest <= self.least
        )


def read_intervals(
    warehouse: Warehouse,
    model: str,
    dimensions: Sequence[str],
    measure: str,
    *,
    total: str | None,
    within: float,
    least_hidden: int,
    other: Sequence[str],
) -> list[Interval]:
    """Return what a table of the warehouse tells of each cell that it hides.

    Columns beside dimensions and measure are refused but for ``other`` ones, and a status that
    tells no more than NULL does.
    """
    relation = warehouse.relation_of_ref(model)
    there = {name for name, _ in warehouse.columns(relation)}
    if missing := [name for name in (*dimensions, measure) if name not in there]:
        raise WarehouseError(
            f"{model}: must have the columns {', '.join((*dimensions, measure))}; missing: "
            f"{', '.join(missing)}. It has {', '.join(sorted(there))}."
        )
    named = [*dimensions, measure]
    status = [STATUS] if STATUS in there - {*named, *other} else []
    columns = ", ".join(map(quote_name, [*named, *status]))
    rows = warehouse.rows(f"select {columns} from {relation}")  # noqa: S608
    if status and all(told == status_of(count is None) for *_, count, told in rows):
        there.remove(STATUS)
    refuse_unfit_columns(sorted(there), dimensions, [measure], other)
    table = read_table([row[: len(named)] for row in rows], dimensions, total)
    return hidden_intervals(table, within=within, least_hidden=least_hidden)


def known_of_published(table: Published, least_hidden: float) -> Floats:
    """Return what everybody knows of each cell of a table if it is hidden, as it was chosen by."""
    least = least_of_published(table, least_hidden)
    return known_of_totals(table.cube, least, table.values == 0)


def least_of_published(table: Published, least_hidden: float) -> Floats:
    """Return what everybody knows of each cell by itself: a hidden one has at least so much."""
    shown = np.minimum(np.nan_to_num(table.values), least_hidden)
    return np.where(table.is_hidden, least_hidden, shown)


def hidden_intervals(
    table: Published, *, within: float = 0.0, least_hidden: int = 1
) -> list[Interval]:
    """Return what a table tells of each cell that it hides, in the order of its cube.

    ``least_hidden`` is the least count that a hidden cell may have: 1 where zeros are shown.

    Examples
    --------
    >>> rows = [("north", 7), ("south", None), ("west", None), (None, 10)]
    >>> hidden_intervals(read_table(rows, ["ward"], None))[0]
    Interval(labels=('south',), lowest=1.0, highest=2.0, least=1.0)
    """
    told = table.values[~np.isnan(table.values)]
    are_integers = bool((told == np.round(told)).all()) and within == int(within)
    cells = np.flatnonzero(table.is_hidden)
    least = np.where(table.is_hidden, least_hidden, -np.inf)
    known = Known.of_published(table.values, within=within, least=least)
    least = known_of_published(table, least_hidden)
    lowest, highest = intervals(table.cube, known, cells, are_integers=are_integers)
    dimensions = table.cube.dimensions
    return [
        Interval(
            tuple(
                dimension.labels[category] if category else None
                for dimension, category in zip(dimensions, categories, strict=True)
            ),
            float(low),
            float(high),
            float(known_least),
        )
        for categories, low, high, known_least in zip(
            table.cube.categories[cells], lowest, highest, least[cells], strict=True
        )
    ]
