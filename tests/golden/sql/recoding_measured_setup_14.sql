create temporary table dbt_anonymize_leaves as
with

range_1 as (

    select
        min(leaf) as range_lower,
        max(upper_bound) as range_upper
    from dbt_anonymize_leaves_1

),

leaves as (

    select
        1 as attribute,
        leaves.code,
        1 as is_interval,
        cast(leaves.leaf - ranges.range_lower as double) / cast(ranges.range_upper - ranges.range_lower as double) as starts,
        cast(leaves.upper_bound - ranges.range_lower as double) / cast(ranges.range_upper - ranges.range_lower as double) as ends,
        leaves.last_0,
        cast(0 as double) as share_0,
        leaves.last_0 as last_1,
        cast(0 as double) as share_1,
        leaves.last_0 as last_2,
        cast(0 as double) as share_2,
        leaves.last_0 as last_3,
        cast(0 as double) as share_3
    from dbt_anonymize_leaves_1 as leaves
    cross join range_1 as ranges

    union all

    select
        1 as attribute,
        0 as code,
        1 as is_interval,
        cast(0 as double) as starts,
        cast(0 as double) as ends,
        0 as last_0,
        cast(0 as double) as share_0,
        0 as last_1,
        cast(0 as double) as share_1,
        0 as last_2,
        cast(0 as double) as share_2,
        0 as last_3,
        cast(0 as double) as share_3

    union all

    select
        2 as attribute,
        leaves.code,
        0 as is_interval,
        cast(0 as double) as starts,
        cast(0 as double) as ends,
        leaves.last_0,
        cast(leaves.last_0 - leaves.first_0 + 1 as double) / count(*) over () as share_0,
        leaves.last_1,
        cast(leaves.last_1 - leaves.first_1 + 1 as double) / count(*) over () as share_1,
        leaves.last_2,
        cast(leaves.last_2 - leaves.first_2 + 1 as double) / count(*) over () as share_2,
        leaves.last_3,
        cast(leaves.last_3 - leaves.first_3 + 1 as double) / count(*) over () as share_3
    from dbt_anonymize_leaves_2 as leaves

    union all

    select
        2 as attribute,
        0 as code,
        0 as is_interval,
        cast(0 as double) as starts,
        cast(0 as double) as ends,
        0 as last_0,
        cast(0 as double) as share_0,
        0 as last_1,
        cast(0 as double) as share_1,
        0 as last_2,
        cast(0 as double) as share_2,
        0 as last_3,
        cast(0 as double) as share_3

)

select
    attribute,
    cast(code as integer) as code,
    is_interval,
    starts,
    ends,
    cast(last_0 as integer) as last_0,
    share_0,
    cast(last_1 as integer) as last_1,
    share_1,
    cast(last_2 as integer) as last_2,
    share_2,
    cast(last_3 as integer) as last_3,
    share_3
from leaves
