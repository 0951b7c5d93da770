with

effort as (

    select * from "shop"."main"."guests_effort_1"

)

select
    "birth_date",
    "birth_date_lower",
    "birth_date_upper",
    "zip",
    "gender",
    "order",
    "größe",
    "spending",
    "churned"
from effort
where not is_suppressed
order by
    "birth_date",
    "birth_date_lower",
    "birth_date_upper",
    "zip",
    "gender",
    "order",
    "größe",
    "spending",
    "churned"
