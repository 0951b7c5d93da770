with

source as (

    select * from "shop"."main"."customers"

),

mapping as (

    select
        person,
        token
    from "vault"."main"."members_tokens"

)

select
    source."customer_id",
    source."full name",
    source."e-mail",
    mapping.token
from source
left join mapping
    on source."e-mail" = mapping.person
