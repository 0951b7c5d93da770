create temporary table dbt_anonymize_leaves_2 as
with

leaves as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as level_1,
        min(cast(level_2 as TEXT)) as level_2,
        min(cast(level_3 as TEXT)) as level_3
    from "memory"."main"."measured_hierarchy_1"
    where cast(value as TEXT) is not null
    group by cast(value as TEXT)

),

coded as (

    select
        *,
        row_number() over (
            order by
                level_3,
                level_2,
                level_1,
                leaf
        ) as code
    from leaves

)

select
    *,
    code as first_0,
    code as last_0,
    min(code) over (partition by level_1) as first_1,
    max(code) over (partition by level_1) as last_1,
    min(code) over (partition by level_2) as first_2,
    max(code) over (partition by level_2) as last_2,
    min(code) over (partition by level_3) as first_3,
    max(code) over (partition by level_3) as last_3
from coded
