with

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "w"."main"."tree_age"

),

range_2 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "w"."main"."tree_day"

),

microdata as (

    select * from "w"."main"."people_microdata"

)

select
    microdata."person_number",
    cast('*' as TEXT) as "age",
    range_1.range_lower as "age_lower",
    range_1.range_upper as "age_upper",
    cast(3 as integer) as "age_level",
    cast(1 as double) as "age_share",
    cast('*' as TEXT) as "birth_day",
    range_2.range_lower as "birth_day_lower",
    range_2.range_upper as "birth_day_upper",
    cast(3 as integer) as "birth_day_level",
    cast(1 as double) as "birth_day_share",
    cast('*' as TEXT) as "city",
    cast(3 as integer) as "city_level",
    cast(1 as double) as "city_share",
    cast('*' as TEXT) as "job",
    cast(2 as integer) as "job_level",
    cast(1 as double) as "job_share"
from microdata
cross join range_1
cross join range_2
