with

effort as (

    select * from "shop"."main"."members_effort_1"

),

tokens as (

    select
        "customer_id",
        token
    from "vault"."main"."members_identifiers"

)

select
    effort."birth_date",
    effort."birth_date_lower",
    effort."birth_date_upper",
    effort."zip",
    effort."gender",
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned",
    tokens.token
from effort
left join tokens on effort."customer_id" = tokens."customer_id"
where not effort.is_suppressed
order by
    effort."birth_date",
    effort."birth_date_lower",
    effort."birth_date_upper",
    effort."zip",
    effort."gender",
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned",
    tokens.token
