create temporary table dbt_anonymize_units as
with

range_1 as (

    select
        min(leaf) as range_lower,
        max(upper_bound) as range_upper
    from dbt_anonymize_leaves_1

),

range_2 as (

    select cast(count(*) as double) as leaves
    from dbt_anonymize_leaves_2

),

units as (

    select
        1 as attribute,
        0 as code,
        1 as level,
        0 as to_code,
        2147483647 as label_end,
        0 as is_halved,
        cast(0 as double) as starts,
        cast(1 as double) as ends

    union all

    select
        1 as attribute,
        leaves.code,
        0 as level,
        leaves.last_0 as to_code,
        2147483647 as label_end,
        1 as is_halved,
        cast(leaves.leaf - ranges.range_lower as double) / cast(ranges.range_upper - ranges.range_lower as double) as starts,
        cast(leaves.upper_bound - ranges.range_lower as double) / cast(ranges.range_upper - ranges.range_lower as double) as ends
    from dbt_anonymize_leaves_1 as leaves
    cross join range_1 as ranges

    union all

    select
        1 as attribute,
        leaves.code,
        1 as level,
        2147483647 as to_code,
        2147483647 as label_end,
        0 as is_halved,
        0 as starts,
        1 as ends
    from dbt_anonymize_leaves_1 as leaves

    union all

    select
        2 as attribute,
        0 as code,
        3 as level,
        0 as to_code,
        2147483647 as label_end,
        0 as is_halved,
        cast(0 as double) as starts,
        cast(1 as double) as ends

    union all

    select
        2 as attribute,
        leaves.code,
        0 as level,
        leaves.last_0 as to_code,
        leaves.last_1 as label_end,
        0 as is_halved,
        0 as starts,
        (leaves.last_1 - leaves.first_1 + 1) / ranges.leaves as ends
    from dbt_anonymize_leaves_2 as leaves
    cross join range_2 as ranges

    union all

    select
        2 as attribute,
        leaves.code,
        1 as level,
        leaves.last_1 as to_code,
        leaves.last_2 as label_end,
        0 as is_halved,
        0 as starts,
        (leaves.last_2 - leaves.first_2 + 1) / ranges.leaves as ends
    from dbt_anonymize_leaves_2 as leaves
    cross join range_2 as ranges

    union all

    select
        2 as attribute,
        leaves.code,
        2 as level,
        leaves.last_2 as to_code,
        2147483647 as label_end,
        0 as is_halved,
        0 as starts,
        1 as ends
    from dbt_anonymize_leaves_2 as leaves

    union all

    select
        2 as attribute,
        leaves.code,
        3 as level,
        2147483647 as to_code,
        2147483647 as label_end,
        0 as is_halved,
        0 as starts,
        1 as ends
    from dbt_anonymize_leaves_2 as leaves

)

select
    attribute,
    cast(code as integer) as code,
    level,
    cast(to_code as integer) as to_code,
    cast(label_end as integer) as label_end,
    is_halved,
    starts,
    ends
from units
