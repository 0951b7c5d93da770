with

kept_values as (

    select
        "illness" as found,
        dense_rank() over (order by "illness") - 1 as code
    from "memory"."main"."frequencies"
    where "illness" is not null
    group by "illness"

),

labels as (

    select
        cast(value as TEXT) as leaf,
        dense_rank() over (order by min(cast(level_1 as TEXT))) - 1 as level_1,
        dense_rank() over (order by min(cast(level_2 as TEXT))) - 1 as level_2
    from "memory"."main"."hierarchy_city"
    group by cast(value as TEXT)

)

select
    coalesce(labels.level_1, -1) as level_1,
    coalesce(labels.level_2, -1) as level_2
from kept_values
left join labels
    on cast(kept_values.found as TEXT) = labels.leaf
order by kept_values.code
