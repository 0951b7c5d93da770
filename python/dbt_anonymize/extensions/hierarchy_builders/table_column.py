"""Values of a warehouse column, for building hierarchies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec.problems import did_you_mean

# Nobody reads a seed of more values; builders accept as many codes.
MOST_VALUES = 1_000_000


def read_as_null(text: str) -> str:
    """Return SQL that is 1 for a text that dbt reads in a seed as NULL, else 0: blanks, or `null`.

    Examples
    --------
    >>> print(read_as_null("city"))
    case when lower(trim(city)) in ('', 'null') then 1 else 0 end
    """
    return f"case when lower(trim({text})) in ('', 'null') then 1 else 0 end"


@dataclass(frozen=True)
class TableColumn:
    """A column of a relation."""

    warehouse: Warehouse
    relation: Any
    name: str

    @classmethod
    def find(cls, warehouse: Warehouse, relation: Any, name: str) -> TableColumn:
        """Return a column as the warehouse spells it; a missing one is a `WarehouseError`."""
        known = [column for column, _ in warehouse.columns(relation)]
        column_name = {column.casefold(): column for column in known}.get(name.casefold())
        if column_name is None:
            remedy = did_you_mean(name, known, f"It has {', '.join(known)}.")
            raise WarehouseError(f"{relation.identifier}: must have the column {name}. {remedy}")
        return cls(warehouse, relation, column_name)

    @property
    def quoted(self) -> str:
        """Its name in SQL."""
        return quote_name(self.name)

    def counts(self) -> dict[str, int]:
        """Return each value as text, as hierarchies compare it, with its records, in order.

        What dbt reads in a seed as NULL is left out as NULL is, see `read_as_null`.
        """
        text = self.warehouse.macro("_as_text", expression=self.quoted)
        rows = self.warehouse.rows(
            f"select {text}, count(*) from {self.relation} "  # noqa: S608 (quoted)
            f"where {self.quoted} is not null and {read_as_null(text)} = 0 "
            f"group by 1 limit {MOST_VALUES + 1}"
        )
        if len(rows) > MOST_VALUES:
            raise WarehouseError(
                f"{self.name}: must have at most {MOST_VALUES} different values; it has more. "
                "Round or group it in a model before."
            )
        return dict(sorted((str(value), int(count)) for value, count in rows))

    def values(self) -> list[str]:
        """Return its values as often as they occur, or in proportion if there are many records."""
        counts = self.counts()
        one_in = max(1, sum(counts.values()) // MOST_VALUES)
        return [value for value, count in counts.items() for _ in range(math.ceil(count / one_in))]

    def ends(self) -> tuple[Any, Any]:
        """Return the smallest and the largest value: of real people, so widen them before use."""
        ((lower, upper),) = self.warehouse.rows(
            f"select min({self.quoted}), max({self.quoted}) from {self.relation}"  # noqa: S608
        )
        if lower is None:
            raise WarehouseError(f"{self.name}: must have values; all are NULL. Choose another.")
        return lower, upper

    def number_ends(self) -> tuple[Decimal, Decimal]:
        """Return the ends of a column of finite numbers; of any other a `WarehouseError`."""
        ends = self.ends()
        numbers = [Decimal(str(end)) for end in ends if isinstance(end, int | float | Decimal)]
        if len(numbers) < 2 or not all(number.is_finite() for number in numbers):
            raise WarehouseError(f"{self.name}: must be a column of finite numbers. Name another.")
        return numbers[0], numbers[1]

    def date_ends(self) -> tuple[date, date]:
        """Return the ends of a column of dates, widened to whole years; else `WarehouseError`."""
        lower, upper = self.ends()
        if not (isinstance(lower, date) and isinstance(upper, date)):
            raise WarehouseError(f"{self.name}: must be a column of dates. Name another.")
        first, last = (end.date() if isinstance(end, datetime) else end for end in (lower, upper))
        return date(first.year, 1, 1), date(last.year, 12, 31)
