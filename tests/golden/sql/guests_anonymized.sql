with

effort as (

    select * from "shop"."main"."guests_effort_1"

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
    from "shop"."main"."guests_classes"
    where effort = 1

)

select
    effort."birth_date",
    effort."birth_date_lower",
    effort."birth_date_upper",
    effort."zip",
    effort."full name",
    effort."e-mail",
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned"
from effort
left join class_order on effort.equivalence_class = class_order.equivalence_class
where not effort.is_suppressed
order by
    class_order.class_number,
    effort."full name",
    effort."e-mail",
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned"
