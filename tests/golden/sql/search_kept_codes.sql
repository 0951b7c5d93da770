with

kept_values as (

    select
        "illness" as found,
        dense_rank() over (order by "illness") - 1 as code
    from "memory"."main"."frequencies"
    where "illness" is not null
    group by "illness"

)

select code
from kept_values
where cast(found as TEXT) in ('flu', 'none')
order by code
