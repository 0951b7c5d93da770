"""Counting records, or subjects where one is declared, by class and by value of an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.table import ValueCounts
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.models import Values
from dbt_anonymize.verify.recomputation.tables import Tables


def count_of(spec: Spec) -> str:
    """Return the aggregate that counts subjects, or records where no subject is declared."""
    return f"count(distinct {quote_name(spec.subject)})" if spec.subject else "count(*)"


@dataclass(frozen=True)
class Classes:
    """Rows in equivalence classes, and the whole table, as SQL.

    ``keys`` identify and order the classes of ``relation``; ``whole`` are all source records. The
    aggregates count records or subjects; ``relation`` may lack the subject.
    """

    tables: Tables
    relation: str
    keys: tuple[str, ...]
    whole: str
    whole_count: str = "count(*)"
    count: str = "count(*)"
    # The records of the sample from which the release is taken.
    everybody: str | None = None

    def sizes(self) -> NDArray[Any]:
        """Return the number of records or subjects of each class."""
        keys = ", ".join(self.keys)
        sql = f"select {self.count} as counted from {self.relation} group by {keys} order by {keys}"  # noqa: S608
        return self.tables.numbers(sql)["counted"]

    def size_of_whole(self) -> int:
        """Return the number of records or subjects of the source, or of its sample."""
        everybody = self.everybody or self.whole
        ((size,),) = self.tables.rows(f"select {self.whole_count} from {everybody} as rows_")  # noqa: S608
        return int(size)

    def values(self, attribute: str, *, with_texts: bool) -> Values:
        """Return the distribution of an attribute in the classes and in the source.

        Values are numbered in the order of their type, NULL last; values that the source lacks get
        the number after all others. ``with_texts``: with the values as text.
        """
        totals = self._totals(attribute)
        counted = self.tables.numbers(
            f"select counted from ({totals}) as totals order by place"  # noqa: S608
        )["counted"]
        texts = (
            self.tables.rows(f"select value_text from ({totals}) as totals order by place")  # noqa: S608
            if with_texts
            else []
        )
        names = [f"key_{number}" for number in range(len(self.keys))]
        keyed = ", ".join(f"{key} as {name}" for key, name in zip(self.keys, names, strict=True))
        group, value = ", ".join(self.keys), f"encode({self._text(attribute)})"
        cells = self.tables.numbers(
            "select cells.class, "  # noqa: S608
            f"coalesce(totals.number, {len(counted)}) as value, cells.counted from "
            f"(select dense_rank() over (order by {', '.join(names)}) - 1 as class, value_text, "
            f"counted from (select {keyed}, {value} as value_text, {self.count} as counted "
            f"from {self.relation} group by {group}, {value}) as grouped) as cells "
            "left join (select encode(value_text) as value_text, place - 1 as number "
            f"from ({totals}) as ranked) as totals "
            "on cells.value_text is not distinct from totals.value_text order by class, value"
        )
        return Values(
            attribute,
            ValueCounts(cells["class"], cells["value"], cells["counted"]),
            counted,
            tuple(row[0] for row in texts),
        )

    def _totals(self, attribute: str) -> str:
        """Return the query of the values in the source: ``value_text``, ``counted``, ``place``."""
        column = quote_name(attribute)
        text = self._text(attribute)
        return (
            f"select {text} as value_text, {self.whole_count} as counted, "  # noqa: S608
            f"row_number() over (order by case when {text} is null then 1 else 0 end, "
            f"min({column}), {text}) as place from {self.whole} as rows_ group by {text}"
        )

    def _text(self, attribute: str) -> str:
        return self.tables.text(quote_name(attribute))
