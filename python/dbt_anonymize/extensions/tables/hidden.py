"""Intervals of the cells that a published table hides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.tables.audit import Known, intervals
from dbt_anonymize.extensions.tables.reading import Published, read_table
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse


class Interval(NamedTuple):
    """Smallest and largest possible count of a hidden cell; labels are None of a total."""

    labels: tuple[str | None, ...]
    lowest: float
    highest: float

    def hides(self, minimum_frequency: int) -> bool:
        """Tell whether the cell may have the minimum frequency, and an interval wide enough.

        Examples
        --------
        >>> Interval(("a",), 1, 5).hides(5), Interval(("a",), 0, 4).hides(5)
        (True, False)
        """
        return (
            self.highest >= minimum_frequency
            and self.highest - self.lowest >= minimum_frequency - 1
        )


def read_intervals(
    warehouse: Warehouse,
    model: str,
    dimensions: Sequence[str],
    measure: str,
    *,
    total: str | None,
    within: float,
) -> list[Interval]:
    """Return what a table of the warehouse tells of each cell that it hides."""
    relation = warehouse.relation_of_ref(model)
    there = {name for name, _ in warehouse.columns(relation)}
    if missing := [name for name in (*dimensions, measure) if name not in there]:
        raise WarehouseError(
            f"{model}: must have the columns {', '.join((*dimensions, measure))}; missing: "
            f"{', '.join(missing)}. It has {', '.join(sorted(there))}."
        )
    columns = ", ".join(map(quote_name, (*dimensions, measure)))
    rows = warehouse.rows(f"select {columns} from {relation}")  # noqa: S608
    return hidden_intervals(read_table(rows, dimensions, total), within=within)


def hidden_intervals(table: Published, *, within: float = 0.0) -> list[Interval]:
    """Return what a table tells of each cell that it hides, in the order of its cube.

    Examples
    --------
    >>> rows = [("north", 7), ("south", None), ("west", None), (None, 10)]
    >>> hidden_intervals(read_table(rows, ["ward"], None))[0]
    Interval(labels=('south',), lowest=0.0, highest=3.0)
    """
    told = table.values[~np.isnan(table.values)]
    are_integers = bool((told == np.round(told)).all()) and within == int(within)
    cells = np.flatnonzero(table.is_hidden)
    known = Known.of_published(table.values, within=within)
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
        )
        for categories, low, high in zip(table.cube.categories[cells], lowest, highest, strict=True)
    ]
