"""Check that means and medians of released groups are correct and reveal no single value."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.recoding.recomputation.covering import is_hierarchy_label
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
        Records with ``class``, ``holder``, value ``v``, ``label`` and bounds ``lo`` and
        ``hi``.
    unit : number
        What labels are rounded to.
    whole : int
        What whole numbers are multiples of: the seconds of a day for dates.
    """

    members: str
    unit: str
    whole: int = 1

    @property
    def reachable(self) -> str:
        """Query of the members with the ``lowest`` and ``highest`` value that their bounds allow.

        All values of a class may be multiples of 1, 5, 10, ...: then the ends are, too.
        """
        steps = [self.whole * unit * 10**digits for digits in range(7) for unit in (1, 5)][-2::-1]
        divisor = "list_reduce(list(distinct cast(v as bigint)), lambda a, b: gcd(a, b))"
        of_class = (
            f"(select class, case when bool_and(v = floor(v)) then {divisor} end as divisor "
            f"from {self.members} as members where v is not null group by class)"
        )
        stepped = (
            f"(select class, list_filter({steps}, lambda step: divisor % step = 0)[1] as step "
            f"from {of_class} as divisors)"
        )
        return (
            "(select members.*, coalesce(ceil(lo / step) * step, lo) as lowest, "
            "coalesce((ceil(hi / step) - 1) * step, hi) as highest "
            f"from {self.members} as members left join {stepped} as stepped using (class))"
        )


def wrong_means(
    tables: Tables, spec: Spec, effort: Effort, source: str, generalization: Generalization
) -> int:
    """Count the classes whose label of numbers is neither an interval nor an allowed mean."""
    numbers = _numbers(tables, spec, source, generalization)
    share = None if effort.group_numbers == "median" else effort.mean_p_percent / 100
    return judge_means(tables, numbers, effort.group_numbers, share)


def judge_means(
    tables: Tables, numbers: Numbers, show: str, share: float | None, *, is_label: bool = True
) -> int:
    """Count the classes whose label is not the mean or median, or may not be told.

    A mean is that of all records of the class, rounded to a thousandth of the range of the
    hierarchy or finer, a date to the day, a point in time to the second; a median is the lower one.
    The p %-rule: without the records of one holder (subject, or record) the others are two or more,
    and their distances from the lowest and from the highest value that the bounds allow sum up to
    at least a ``share`` of the interval; a median is as far from either. Without a share it has no
    rule. Without ``is_label`` members are a part of the class, and only the rule counts.
    """
    noise = f"{_NOISE} * (hi - lo)"
    rows = f"{numbers.reachable} as members"
    holders = (
        "select class, holder, count(*) as n, count(v) as known, sum(v) as total, "
        f"sum(v - lowest) as above, sum(highest - v) as below from {rows} group by class, holder"
    )
    of_class = (
        "select class, max(label) as label, max(lo) as lo, max(hi) as hi, max(lowest) as lowest, "
        "max(highest) as highest, quantile_disc(v, 0.5) as median "
        f"from {rows} group by class"
    )
    of_holders = (
        "select class, sum(n) as n, sum(known) as known, sum(n) - max(n) as others, "
        "sum(total) as total, sum(above) - max(above) as above_others, "
        f"sum(below) - max(below) as below_others from ({holders}) as holders group by class"
    )
    if show == "median":
        center, above, below = "median", "median - lowest", "highest - median"
    else:
        center, above, below = "total / n", "above_others", "below_others"
    right = f"abs(label - ({center})) <= 0.5 * {numbers.unit} + {noise} + {_NOISE} * abs({center})"
    is_allowed = "true"
    if share is not None:
        least = f"{share} * (hi - lo) - {noise}"
        is_allowed = f"others >= 2 and {above} >= {least} and {below} >= {least}"
    ((wrong,),) = tables.rows(
        f"select count(*) from ({of_class}) as classes "
        f"inner join ({of_holders}) as counted using (class) where "
        f"(known = n and {right if is_label else 'true'} and {is_allowed}) is not true"
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
        f"select row({columns}) as class, rows_.{holder} as holder, {number(value)} as v, "
        f"{label} as label, {number(lower)} as lo, {number(upper)} as hi, "
        f"{name} = '{ROOT}' or {is_hierarchy_label(generalization)} as is_known "
        f"from {source} as rows_ inner join {tables.effort} as effort on rows_.{key} = effort.{key}"
    )
    shown = f"(select * from ({members}) as members where is_known is not true)"
    return Numbers(shown, unit, whole=86400 if is_date else 1)


def unit_of_numbers(generalization: Generalization) -> str:
    """Return SQL of the unit to which means of numbers are rounded."""
    range_ = "max(cast(upper_bound as double)) - min(cast(lower_bound as double))"
    rounded = f"power(10, -greatest(0, 3 - floor(log10({range_}))))"
    return f"(select {rounded} from {generalization.relation})"
