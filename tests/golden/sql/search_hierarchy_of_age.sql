with

leaves as (

    select
        lower_bound as leaf,
        max(upper_bound) as upper_bound,
        min(cast(level_1 as TEXT)) as label_1,
        min(cast(level_2 as TEXT)) as label_2
    from "memory"."main"."hierarchy_age"
    group by lower_bound

)

select
    dense_rank() over (order by label_1) - 1 as level_1,
    case when label_1 = '*' then 1 else 0 end as is_root_1,
    dense_rank() over (order by label_2) - 1 as level_2,
    case when label_2 = '*' then 1 else 0 end as is_root_2
from leaves
order by leaf
