with

leaves as (

    select
        lower_bound,
        upper_bound,
        cast(level_1 as TEXT) as level_1,
        cast(level_2 as TEXT) as level_2,
        cast(level_3 as TEXT) as level_3,
        cast(level_4 as TEXT) as level_4,
        lead(lower_bound) over (order by lower_bound) as next_lower_bound,
        row_number() over (order by lower_bound) as leaf_number
    from "shop"."main"."customers_hierarchy_birth_date"

),

violations as (

    select
        'it has at least one interval' as rule,
        cast(null as integer) as level,
        case when count(*) = 0 then 1 else 0 end as violations
    from leaves

    union all

    select
        'bounds are finite and lower_bound < upper_bound' as rule,
        cast(null as integer) as level,
        count(*) as violations
    from leaves
    where
        lower_bound is null
        or upper_bound is null
        or lower(cast(lower_bound as TEXT)) in ('nan', 'inf', '-inf', 'infinity', '-infinity')
        or lower(cast(upper_bound as TEXT)) in ('nan', 'inf', '-inf', 'infinity', '-infinity')
        or lower_bound >= upper_bound

    union all

    select
        'intervals have no gap between them' as rule,
        cast(null as integer) as level,
        count(*) as violations
    from leaves
    where next_lower_bound > upper_bound

    union all

    select
        'intervals do not overlap' as rule,
        cast(null as integer) as level,
        count(*) as violations
    from leaves
    where next_lower_bound < upper_bound

    union all

    select
        'labels of level 1 are unique' as rule,
        1 as level,
        count(level_1) - count(distinct level_1) as violations
    from leaves

    union all

    select
        'labels cover neighbouring intervals' as rule,
        1 as level,
        count(*) as violations
    from (
        select level_1
        from leaves
        group by level_1
        having max(leaf_number) - min(leaf_number) + 1 > count(*)
    ) as scattered

    union all

    select
        'the root label * stands at the top level only' as rule,
        1 as level,
        count(*) as violations
    from leaves
    where level_1 = '*'

    union all

    select
        'labels cover neighbouring intervals' as rule,
        2 as level,
        count(*) as violations
    from (
        select level_2
        from leaves
        group by level_2
        having max(leaf_number) - min(leaf_number) + 1 > count(*)
    ) as scattered

    union all

    select
        'the root label * stands at the top level only' as rule,
        2 as level,
        count(*) as violations
    from leaves
    where level_2 = '*'

    union all

    select
        'labels cover neighbouring intervals' as rule,
        3 as level,
        count(*) as violations
    from (
        select level_3
        from leaves
        group by level_3
        having max(leaf_number) - min(leaf_number) + 1 > count(*)
    ) as scattered

    union all

    select
        'the root label * stands at the top level only' as rule,
        3 as level,
        count(*) as violations
    from leaves
    where level_3 = '*'

    union all

    select
        'the top level is the root *' as rule,
        4 as level,
        count(*) as violations
    from leaves
    where level_4 is null or level_4 <> '*'

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
        'labels are not empty' as rule,
        4 as level,
        count(*) as violations
    from leaves
    where level_4 is null or level_4 = ''

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

    union all

    select
        'a label has one parent (declare nested: false to relax it)' as rule,
        3 as level,
        count(*) as violations
    from (
        select level_3
        from leaves
        group by level_3
        having count(distinct level_4) > 1
    ) as ambiguous

    union all
    select
        'the label * stays * at every higher level' as rule,
        3 as level,
        count(*) as violations
    from leaves
    where level_3 = '*' and level_4 <> '*'

)

select
    rule,
    level,
    violations
from violations
where violations > 0
