"""Check that means and medians of released groups are correct and reveal no single value."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Effort, Spec
from dbt_anonymize.verify.recomputation.labels import ROOT, Generalization
from dbt_anonymize.verify.recomputation.tables import Tables

# Sums of doubles depend on their order.
_NOISE = 1e-9


@dataclass(frozen=True)
class Numbers:
    """A number that is released as means or medians, as SQL.

    Attributes
    ----------
    members : query
        Records with ``class``, ``key``, ``holder``, value ``v``, ``label`` and bounds ``lo`` and
        ``hi``.
    unit : number
        What labels are rounded to.
    known : query
        All values of the column, as ``v``.
    whole : int
        What whole numbers are multiples of: the seconds of a day for dates.
    """

    members: str
    unit: str
    known: str
    whole: int = 1

    def ends(self, tables: Tables) -> tuple[str, str]:
        """Return SQL of the lowest and highest value that the bounds allow.

        All values may be multiples of 1, 5, 10, ...: then the ends are, too.
        """
        steps = [self.whole * unit * 10**digits for digits in range(7) for unit in (1, 5)][:-1]
        known = f"(select distinct v from {self.known} as known where v is not null)"
        counted = ", ".join(f"count(*) filter (v % {step} <> 0)" for step in steps)
        (others,) = tables.rows(f"select {counted} from {known} as known")
        step = max((step for step, odd in zip(steps, others, strict=True) if not odd), default=0)
        if not step:
            return "lo", "hi"
        return f"(ceil(lo / {step}) * {step})", f"((ceil(hi / {step}) - 1) * {step})"


def wrong_means(
    tables: Tables, spec: Spec, effort: Effort, source: str, generalization: Generalization
) -> int:
    """Count the classes whose label of numbers is neither an interval nor an allowed mean."""
    numbers = _numbers(tables, spec, source, generalization)
    share = None if effort.group_numbers == "median" else effort.mean_p_percent / 100
    return judge_means(tables, numbers, effort.group_numbers, share)


def judge_means(tables: Tables, numbers: Numbers, show: str, share: float | None) -> int:
    """Count the classes whose label is not the mean or median, or may not be told.

    A mean is that of all records of the class, rounded to a thousandth of the range of the
    hierarchy or finer, a date to the day, a point in time to the second; a median is the lower one.
    The p %-rule: without the records of one holder (subject, or record) the others are two or more,
    and their distances from the lowest and from the highest value that the bounds allow sum up to
    at least a ``share`` of the interval; a median is as far from either. Without a share it has no
    rule.
    """
    rows, (lowest, highest) = numbers.members, numbers.ends(tables)
    noise = f"{_NOISE} * (hi - lo)"
    holders = (
        "select class, holder, count(*) as n, count(v) as known, sum(v) as total, "
        f"sum(v - {lowest}) as above, sum({highest} - v) as below from {rows} as members "
        "group by class, holder"
    )
    of_class = (
        "select class, max(label) as label, max(lo) as lo, max(hi) as hi, "
        f"quantile_disc(v, 0.5) as median from {rows} as members group by class"
    )
    of_holders = (
        "select class, sum(n) as n, sum(known) as known, sum(n) - max(n) as others, "
        "sum(total) as total, sum(above) - max(above) as above_others, "
        f"sum(below) - max(below) as below_others from ({holders}) as holders group by class"
    )
    if show == "median":
        center, above, below = "median", f"median - {lowest}", f"{highest} - median"
    else:
        center, above, below = "total / n", "above_others", "below_others"
    right = f"abs(label - ({center})) <= 0.5 * {numbers.unit} + {noise} + {_NOISE} * abs({center})"
    is_allowed = "true"
    if share is not None:
        least = f"{share} * (hi - lo) - {noise}"
        is_allowed = f"others >= 2 and {above} >= {least} and {below} >= {least}"
    ((wrong,),) = tables.rows(
        f"select count(*) from ({of_class}) as classes "
        f"inner join ({of_holders}) as counted using (class) "
        f"where (known = n and {right} and {is_allowed}) is not true"
    )
    return int(wrong)


def _numbers(tables: Tables, spec: Spec, source: str, generalization: Generalization) -> Numbers:
    """Return all numbers that are released as means."""
    name, lower, upper = (f"effort.{quote_name(c)}" for c in generalization.columns)
    kind = tables.types(f"select * from {tables.effort}")[generalization.columns[1]].upper()
    is_date, is_time = kind == "DATE", kind.startswith("TIMESTAMP")

    def number(sql: str) -> str:
        return f"epoch({sql})" if is_date or is_time else f"cast({sql} as double)"

    label = f"try_cast({name} as double)"
    if is_date or is_time:
        label = f"epoch(try_cast({name} as timestamp))"
    value = f"rows_.{quote_name(generalization.name)}"
    key, holder = quote_name(spec.record_key), quote_name(spec.person_column)
    columns = ", ".join(f"effort.{quote_name(c)}" for c in spec.generalized_columns)
    unit = unit_of_numbers(generalization)
    if is_date or is_time:
        unit = "86400" if is_date else "1"
    members = (
        f"select row({columns}) as class, {tables.text(f'rows_.{key}')} as key, "
        f"rows_.{holder} as holder, {number(value)} as v, "
        f"{label} as label, {number(lower)} as lo, {number(upper)} as hi, "
        f"{name} = '{ROOT}' or {generalization.is_label('effort', is_merged=True)} as is_known "
        f"from {source} as rows_ inner join {tables.effort} as effort on rows_.{key} = effort.{key}"
    )
    shown = f"(select * from ({members}) as members where is_known is not true)"
    known = f"(select {number(value)} as v from {source} as rows_)"
    return Numbers(shown, unit, known, whole=86400 if is_date else 1)


def unit_of_numbers(generalization: Generalization) -> str:
    """Return SQL of the unit to which means of numbers are rounded."""
    range_ = "max(cast(upper_bound as double)) - min(cast(lower_bound as double))"
    rounded = f"power(10, -greatest(0, 3 - floor(log10({range_}))))"
    return f"(select {rounded} from {generalization.relation})"
