with

source as (

    select * from "memory"."main"."frequencies"

),

subjects as (

    select
        found,
        row_number() over (order by found) as subject
    from (
        select distinct "it's ""her""" as found
        from source
        where "it's ""her""" is not null
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
    inner join "memory"."main"."hierarchy_age" as hierarchy
        on
            values_1.found >= hierarchy.lower_bound
            and values_1.found < hierarchy.upper_bound

)

select
    source."visit",
    source."age",
    leaves_1.leaf as "age_leaf",
    source."illness",
    subjects.subject,
    substr(md5(cast('outer 7 ' || cast(source."it's ""her""" as TEXT) as TEXT)), 1, 8) < '33333333' as is_outer
from source
left join subjects on source."it's ""her""" = subjects.found
left join leaves_1
    on source."age" = leaves_1.found
