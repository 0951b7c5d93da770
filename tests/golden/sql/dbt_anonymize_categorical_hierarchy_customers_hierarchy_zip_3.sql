with

leaves as (

    select
        cast(value as TEXT) as leaf,
        cast(level_1 as TEXT) as level_1,
        cast(level_2 as TEXT) as level_2,
        cast(level_3 as TEXT) as level_3
    from "shop"."main"."customers_hierarchy_zip"

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
        3 as level,
        count(*) as violations
    from leaves
    where level_3 is null or level_3 <> '*'

    union all

    select
        'labels are not empty' as rule,
        1 as level,
        count(*) as violations
    from leaves
    where level_1 is null or level_1 = ''

    union all

    select
        'labels are not empty' as rule,
        2 as level,
        count(*) as violations
    from leaves
    where level_2 is null or level_2 = ''

    union all

    select
        'labels are not empty' as rule,
        3 as level,
        count(*) as violations
    from leaves
    where level_3 is null or level_3 = ''

    union all

    select
        'a label has one parent (declare nested: false to relax it)' as rule,
        1 as level,
        count(*) as violations
    from (
        select level_1
        from leaves
        group by level_1
        having count(distinct level_2) > 1
    ) as ambiguous

    union all
    select
        'the label * stays * at every higher level' as rule,
        1 as level,
        count(*) as violations
    from leaves
    where level_1 = '*' and level_2 <> '*'

    union all

    select
        'a label has one parent (declare nested: false to relax it)' as rule,
        2 as level,
        count(*) as violations
    from (
        select level_2
        from leaves
        group by level_2
        having count(distinct level_3) > 1
    ) as ambiguous

    union all
    select
        'the label * stays * at every higher level' as rule,
        2 as level,
        count(*) as violations
    from leaves
    where level_2 = '*' and level_3 <> '*'

)

select
    rule,
    level,
    violations
from violations
where violations > 0
