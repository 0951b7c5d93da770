"""Check that an aggregate of a class, and one that the vault remembers, do not tell who joined."""

from __future__ import annotations

from dbt_anonymize.verify.recomputation.means import Numbers
from dbt_anonymize.verify.recomputation.tables import Tables

# Of the shown classes: those who are not in a class of an earlier release that shares people with
# it. A class is compared with what was remembered before the first class of the same people.
_JOINERS = """
with shown as (
    select *, count(*) over (partition by class) as records from {members} as members
),
earlier as (
    select release, cqi, record_key as key, count(*) over (partition by release, cqi) as records
    from {aggregated}
),
pairs as (
    select
        shown.class, earlier.release, earlier.cqi,
        count(*) = any_value(shown.records) and count(*) = any_value(earlier.records) as is_same
    from shown inner join earlier using (key)
    group by all
),
compared as (
    select class, release, cqi
    from pairs
    left join (select class, min(release) as first from pairs where is_same group by class) as same
        using (class)
    where release < coalesce(first, release + 1)
),
joiners as (
    select
        class, release, cqi, holder, sum(v - {lowest}) as above, sum({highest} - v) as below,
        max(hi - lo) as width
    from compared
    inner join shown using (class)
    anti join earlier using (release, cqi, key)
    group by all
),
judged as (
    select
        class, release, cqi, sum(above) - max(above) >= {share} * max(width) - 1e-9
        and sum(below) - max(below) >= {share} * max(width) - 1e-9 as is_open
    from joiners
    group by all
)
select count(distinct class)
from compared left join judged using (class, release, cqi)
where is_open is not true
"""


def telling_joiners(tables: Tables, numbers: Numbers, share: float) -> int:
    """Count the classes whose mean or median tells what those have who joined.

    Two means and their counts give the sum of those who joined, less the sum of those who left. So
    the p %-rule holds for those who joined alone: without any one of them, the distances of the
    others from the lowest and from the highest value that the bounds allow add up to a ``share`` of
    the interval.
    """
    if tables.aggregated is None:
        return 0
    lowest, highest = numbers.ends(tables)
    sql = _JOINERS.format(
        members=numbers.members,
        aggregated=tables.aggregated,
        lowest=lowest,
        highest=highest,
        share=share,
    )
    ((classes,),) = tables.rows(sql)
    return int(classes)
