with

counted as (

    select
        "age",
        "birth_day",
        "city",
        "job",
        count(*) as records
    from "w"."main"."everybody"
    group by
        "age",
        "birth_day",
        "city",
        "job"

),

values_1 as (

    select distinct "age" as found
    from counted
    where "age" is not null

),

leaves_1 as (

    select
        values_1.found,
        hierarchy.lower_bound as leaf
    from values_1
    inner join "w"."main"."tree_age" as hierarchy
        on
            values_1.found >= hierarchy.lower_bound
            and values_1.found < hierarchy.upper_bound

),

values_2 as (

    select distinct "birth_day" as found
    from counted
    where "birth_day" is not null

),

leaves_2 as (

    select
        values_2.found,
        hierarchy.lower_bound as leaf
    from values_2
    inner join "w"."main"."tree_day" as hierarchy
        on
            values_2.found >= hierarchy.lower_bound
            and values_2.found < hierarchy.upper_bound

),

leaves_3 as (

    select cast(value as TEXT) as leaf
    from "w"."main"."tree_city"

),

leaves_4 as (

    select cast(value as TEXT) as leaf
    from "w"."main"."tree_job"

)

select
    counted."age",
    leaves_1.leaf as "age_leaf",
    counted."birth_day",
    leaves_2.leaf as "birth_day_leaf",
    counted."city",
    leaves_3.leaf as "city_leaf",
    counted."job",
    leaves_4.leaf as "job_leaf",
    counted.records
from counted
left join leaves_1
    on counted."age" = leaves_1.found
left join leaves_2
    on counted."birth_day" = leaves_2.found
left join leaves_3
    on cast(counted."city" as TEXT) = leaves_3.leaf
left join leaves_4
    on cast(counted."job" as TEXT) = leaves_4.leaf
