"""Check that means and medians of released groups are correct and reveal no single value."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Effort, Spec
from dbt_anonymize.verify.recomputation.labels import ROOT, Generalization
from dbt_anonymize.verify.recomputation.tables import Tables

# Sums of doubles depend on their order.
_NOISE = 1e-9


def wrong_means(
    tables: Tables, spec: Spec, effort: Effort, source: str, generalization: Generalization
) -> int:
    """Count the classes whose label of numbers is neither an interval nor an allowed mean.

    A mean is that of all records of the class, rounded to a thousandth of the range of the
    hierarchy or finer, a date to the day, a point in time to the second; a median is the lower one.
    The p %-rule: without the records of one holder (subject, or record), the distances of the
    others from either bound sum up to at least a share p of the interval, and they are two or more.
    """
    members, unit = _members(tables, spec, source, generalization)
    holders = (
        "select class, max(label) as label, max(lo) as lo, max(hi) as hi, count(*) as n, "
        "count(v) as known, sum(v - lo) as above, sum(hi - v) as below "
        f"from {members} as members group by class, holder"
    )
    classes = (
        "select class, max(label) as label, max(lo) as lo, max(hi) as hi, sum(n) as n, "
        "sum(known) as known, sum(n) - max(n) as others, sum(above) as above, "
        "sum(above) - max(above) as above_others, sum(below) - max(below) as below_others "
        f"from ({holders}) as holders group by class"
    )
    noise = f"{_NOISE} * (hi - lo)"
    share = effort.mean_p_percent / 100
    if effort.group_numbers == "median":
        classes = (
            "select class, max(label) as label, max(lo) as lo, max(hi) as hi, count(*) as n, "
            f"count(v) as known, quantile_disc(v, 0.5) as center from {members} as members "
            "group by class"
        )
        is_allowed = "true"
    else:
        classes = f"select *, lo + above / n as center from ({classes}) as classes"
        is_allowed = (
            f"others >= 2 and above_others >= {share} * (hi - lo) - {noise} "
            f"and below_others >= {share} * (hi - lo) - {noise}"
        )
    right = f"abs(label - center) <= 0.5 * {unit} + {noise} + {_NOISE} * abs(center)"
    ((wrong,),) = tables.rows(
        f"select count(*) from ({classes}) as classes "
        f"where (known = n and {right} and {is_allowed}) is not true"
    )
    return int(wrong)


def _members(
    tables: Tables, spec: Spec, source: str, generalization: Generalization
) -> tuple[str, str]:
    """Return the query of all numbers that are released as means, and the unit of rounding."""
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
    unit = "86400" if is_date else "1"
    if not is_date and not is_time:
        range_ = "max(cast(upper_bound as double)) - min(cast(lower_bound as double))"
        unit = (
            f"(select power(10, -greatest(0, 3 - floor(log10({range_})))) "
            f"from {generalization.relation})"
        )
    members = (
        f"select row({columns}) as class, rows_.{holder} as holder, {number(value)} as v, "
        f"{label} as label, {number(lower)} as lo, {number(upper)} as hi, "
        f"{name} = '{ROOT}' or {generalization.is_label('effort', is_merged=True)} as is_known "
        f"from {source} as rows_ inner join {tables.effort} as effort on rows_.{key} = effort.{key}"
    )
    return f"(select * from ({members}) as members where is_known is not true)", unit
