with

source as (

    select * from "vault"."main"."people"

),

subjects as (

    select
        found,
        row_number() over (order by found) as subject
    from (
        select distinct "full_name" as found
        from source
        where "full_name" is not null
    ) as people

),

values_1 as (

    select distinct "age" as found
    from source
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
    from source
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
    source."person_number",
    source."age",
    leaves_1.leaf as "age_leaf",
    source."birth_day",
    leaves_2.leaf as "birth_day_leaf",
    source."city",
    leaves_3.leaf as "city_leaf",
    source."job",
    leaves_4.leaf as "job_leaf",
    source."illness",
    source."blood",
    case when source."income" = cast('NaN' as DOUBLE) then cast('NaN' as DOUBLE) else cast(source."income" + 0 as DOUBLE) end as "income",
    source."remark",
    source."outcome",
    subjects.subject
from source
left join subjects on source."full_name" = subjects.found
left join leaves_1
    on source."age" = leaves_1.found
left join leaves_2
    on source."birth_day" = leaves_2.found
left join leaves_3
    on cast(source."city" as TEXT) = leaves_3.leaf
left join leaves_4
    on cast(source."job" as TEXT) = leaves_4.leaf
