with

effort as (

    select * from "shop"."main"."surveyed_effort_2"

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
    "churned",
    equivalence_class as cqi
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
    "churned",
    cqi
