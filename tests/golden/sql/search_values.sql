with

leaves as (

    select
        lower_bound as found,
        dense_rank() over (order by lower_bound) - 1 as code
    from "memory"."main"."hierarchy_age"
    group by lower_bound

),

raw_values as (

    select
        found,
        min(leaf) as leaf,
        dense_rank() over (order by found) - 1 as code
    from (
        select
            "age" as found,
            min("age_leaf") as leaf
        from "memory"."main"."frequencies"
        where "age" is not null
        group by "age"
        union all
        select
            "age" as found,
            min("age_leaf") as leaf
        from "memory"."main"."population"
        where "age" is not null
        group by "age"
    ) as found_values
    group by found

)

select leaves.code as leaf
from raw_values
inner join leaves
    on raw_values.leaf = leaves.found
order by raw_values.found
