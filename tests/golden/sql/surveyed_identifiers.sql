with

source as (

    select * from "shop"."main"."customers"

),


mapping as (

    select
        "customer_id",
        equivalence_class as cqi
    from "shop"."main"."surveyed_effort_2"
    where not is_suppressed

)

select
    source."customer_id",
    source."full name",
    source."e-mail",
    mapping.cqi
from source
left join mapping
    on source."customer_id" = mapping."customer_id"
