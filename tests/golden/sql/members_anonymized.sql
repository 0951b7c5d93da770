with

effort as (

    select * from "shop"."main"."members_effort_1"

),

class_order as (

    select
        equivalence_class,
        row_number() over (
            order by
                "birth_date",
                "zip",
                "gender"
        ) as class_number
    from "shop"."main"."members_classes"
    where effort = 1

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
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned",
    tokens.token
from effort
left join class_order on effort.equivalence_class = class_order.equivalence_class
left join tokens on effort."customer_id" = tokens."customer_id"
where not effort.is_suppressed
order by
    class_order.class_number,
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned",
    tokens.token
