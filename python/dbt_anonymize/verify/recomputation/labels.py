"""Labels and bounds of values, looked up in the hierarchies by SQL that the build does not share.

Intervals are looked up by an as-of join with the sorted lower bounds. NULL has the label `*` and
the bounds of the whole range; level 0 is the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.validation import Hierarchy
from dbt_anonymize.verify.recomputation.tables import Tables

ROOT = "*"


@dataclass(frozen=True)
class Lookup:
    """Lookup of labels: left joins, if it needs any, and SQL of labels and bounds by name."""

    join: str
    columns: Mapping[str, str]


def joined(lookups: Iterable[Lookup]) -> Lookup:
    """Return several lookups as one."""
    looked_up = list(lookups)
    columns = (one.columns.items() for one in looked_up)
    return Lookup(" ".join(one.join for one in looked_up), dict(chain.from_iterable(columns)))


@dataclass(frozen=True)
class Generalization:
    """The hierarchy of one quasi-identifier as SQL; ``text`` is `Tables.text`."""

    name: str
    hierarchy: Hierarchy
    relation: str
    text: Callable[[str], str]

    @property
    def is_interval(self) -> bool:
        """Tell whether labels have bounds."""
        return self.hierarchy.kind == "interval"

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns: the label and, of an interval, its bounds."""
        bounds = (f"{self.name}_lower", f"{self.name}_upper") if self.is_interval else ()
        return (self.name, *bounds)

    @property
    def root(self) -> dict[str, str]:
        """SQL of the label of everything and of its bounds, by column."""
        return self._columns(quote_text(ROOT), "null", "null")

    def require_well_formed(self, tables: Tables) -> None:
        """Raise a `VerificationError` if a value would have two leaves."""
        sql = f"select count(*) from (select 1 from {self.relation} group by value having count(*) > 1)"  # noqa: S608, E501
        if self.is_interval:
            sql = (
                "select count(*) from (select lower_bound < lag(upper_bound) over "  # noqa: S608
                f"(order by lower_bound, upper_bound) as is_broken from {self.relation}) as leaves "
                "where is_broken"
            )
        ((broken,),) = tables.rows(sql)
        if broken:
            raise VerificationError(
                f"{self.hierarchy.ref}: every value must have one leaf; {broken:,} of the "
                "hierarchy are there twice or overlap. Correct the seed and build again."
            )

    def null_if_unknown(self, value: str) -> str:
        """Return SQL of a value, NULL if the hierarchy lacks it and declares ``unknown``."""
        if not self.hierarchy.unknown:
            return value
        if self.is_interval:
            # Intervals tile their range.
            lower = f"(select min(lower_bound) from {self.relation})"  # noqa: S608 (quoted)
            upper = f"(select max(upper_bound) from {self.relation})"  # noqa: S608 (quoted)
            condition = f"{value} >= {lower} and {value} < {upper}"
        else:
            values = f"select {self.text('value')} from {self.relation}"  # noqa: S608
            condition = f"{self.text(value)} in ({values})"
        return f"case when {condition} then {value} end"

    def leaf(self, rows: str, value: str, alias: str) -> Lookup:
        """Return the lookup of the leaf: the lower bound, or the value as text.

        ``value`` is the SQL of a value in the relation ``rows``, called ``rows_`` there.
        """
        if not self.is_interval:
            lookup = f"select {self.text('value')} as key from {self.relation}"  # noqa: S608
            return Lookup(
                f"left join ({lookup}) as {alias} on {self.text(value)} = {alias}.key",
                {"leaf": f"{alias}.key"},
            )
        lookup = self._leaf_query(rows, value, "tree.lower_bound as leaf")
        return Lookup(
            f"left join ({lookup}) as {alias} on {value} = {alias}.key", {"leaf": f"{alias}.leaf"}
        )

    def label(self, rows: str, value: str, level: int, alias: str) -> Lookup:
        """Return the lookup of the label at a level, with the same arguments."""
        if level == 0:
            label = f"coalesce({self.text(value)}, '{ROOT}')"
            return Lookup("", self._columns(label, value, value))
        level_ = quote_name(f"level_{level}")
        covered = f"case when {value} is null then '{ROOT}' else {alias}.label end"
        if not self.is_interval:
            lookup = (
                f"select {self.text('value')} as key, {self.text(level_)} as label "  # noqa: S608
                f"from {self.relation}"
            )
            return Lookup(
                f"left join ({lookup}) as {alias} on {self.text(value)} = {alias}.key",
                {self.name: covered},
            )
        lookup = self._leaf_query(rows, value, f"{self.text(f'tree.{level_}')} as label")
        labelled = (
            "select values_.key, spans.* "  # noqa: S608
            f"from ({lookup}) as values_ inner join ({self.spans(level)}) as spans "
            "on values_.label = spans.label"
        )
        return Lookup(
            f"left join ({labelled}) as {alias} on {value} = {alias}.key",
            self._columns(covered, f"{alias}.label_lower", f"{alias}.label_upper"),
        )

    def _columns(self, label: str, lower: str, upper: str) -> dict[str, str]:
        if not self.is_interval:
            return {self.name: label}
        range_ = [
            f"(select {end} from {self.relation})"  # noqa: S608
            for end in ("min(lower_bound)", "max(upper_bound)")
        ]
        bounds = (f"coalesce({lower}, {range_[0]})", f"coalesce({upper}, {range_[1]})")
        return dict(zip(self.columns, (label, *bounds), strict=True))

    def _leaf_query(self, rows: str, value: str, selected: str) -> str:
        """Return the query of the distinct values in intervals, with a column of their leaves."""
        return (
            f"select looked.key, {selected} from (select distinct {value} as key "  # noqa: S608
            f"from {rows} as rows_ where {value} is not null) as looked "
            f"asof inner join {self.relation} as tree on looked.key >= tree.lower_bound "
            "where looked.key < tree.upper_bound"
        )

    def spans(self, level: int) -> str:
        """Return the query of the labels of a level, with the bounds of each."""
        return (
            f"select {self.text(f'level_{level}')} as label, min(lower_bound) as label_lower, "  # noqa: S608
            f"max(upper_bound) as label_upper from {self.relation} group by level_{level}"
        )
