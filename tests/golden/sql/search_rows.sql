with

values_1 as (

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

),

values_2 as (

    select
        cast(value as TEXT) as found,
        dense_rank() over (order by cast(value as TEXT)) - 1 as code
    from "memory"."main"."hierarchy_city"
    group by cast(value as TEXT)

),

values_3 as (

    select
        "illness" as found,
        dense_rank() over (order by "illness") - 1 as code
    from "memory"."main"."frequencies"
    where "illness" is not null
    group by "illness"

),

coded as (

    select
        coalesce(values_1.code, 9) * cast(1 as bigint)
        + coalesce(values_2.code, 9) * cast(1 as bigint) as key_1,
        values_3.code * cast(1 as bigint) as key_2,
        rows_found.subject,
        rows_found.records,
        0 as population
    from "memory"."main"."frequencies" as rows_found
    left join values_1
        on rows_found."age" = values_1.found
    left join values_2
        on rows_found."city_leaf" = values_2.found
    left join values_3
        on rows_found."illness" = values_3.found
    union all
    select
        coalesce(values_1.code, 9) * cast(1 as bigint)
        + coalesce(values_2.code, 9) * cast(1 as bigint) as key_1,
        0 as key_2,
        0 as subject,
        0 as records,
        rows_found.records as population
    from "memory"."main"."population" as rows_found
    left join values_1
        on rows_found."age" = values_1.found
    left join values_2
        on rows_found."city_leaf" = values_2.found

)

select
    key_1,
    key_2,
    subject,
    cast(sum(records) as bigint) as records,
    cast(sum(population) as bigint) as population
from coded
group by
    key_1,
    key_2,
    subject
order by
    key_1,
    key_2,
    subject
