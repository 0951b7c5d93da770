create temporary table dbt_anonymize_leaves_1 as
with

leaves as (

    select
        lower_bound as leaf,
        max(upper_bound) as upper_bound,
        min(cast(level_1 as TEXT)) as level_1,
        min(cast(level_2 as TEXT)) as level_2,
        min(cast(level_3 as TEXT)) as level_3
    from "memory"."main"."measured_hierarchy_0"
    where lower_bound is not null
    group by lower_bound

),

coded as (

    select
        *,
        row_number() over (
            order by
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
