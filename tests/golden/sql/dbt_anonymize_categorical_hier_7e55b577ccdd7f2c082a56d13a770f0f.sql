with

leaves as (

    select
        cast(value as TEXT) as leaf,
        cast(level_1 as TEXT) as level_1
    from "shop"."main"."customers_hierarchy_gender"

),

violations as (

    select
        'it has at least one value' as rule,
        cast(null as integer) as level,
        case when count(*) = 0 then 1 else 0 end as violations
    from leaves

    union all

    select
        'values are not NULL (NULL generalizes to * by itself)' as rule,
        cast(null as integer) as level,
        count(*) as violations
    from leaves
    where leaf is null

    union all

    select
        'values are unique' as rule,
        cast(null as integer) as level,
        count(leaf) - count(distinct leaf) as violations
    from leaves

    union all

    select
        'the root label * is not a value' as rule,
        cast(null as integer) as level,
        count(*) as violations
    from leaves
    where leaf = '*'

    union all

    select
        'the top level is the root *' as rule,
        1 as level,
        count(*) as violations
    from leaves
    where level_1 is null or level_1 <> '*'

    union all

    select
        'labels are not empty' as rule,
        1 as level,
        count(*) as violations
    from leaves
    where level_1 is null or level_1 = ''

)

select
    rule,
    level,
    violations
from violations
where violations > 0
