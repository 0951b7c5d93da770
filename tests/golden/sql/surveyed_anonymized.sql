with

effort as (

    select * from "shop"."main"."surveyed_effort_2"

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
    from "shop"."main"."surveyed_classes"
    where effort = 2

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
    effort.equivalence_class as cqi
from effort
left join class_order on effort.equivalence_class = class_order.equivalence_class
where not effort.is_suppressed
order by
    class_order.class_number,
    effort."order",
    effort."größe",
    effort."spending",
    effort."churned"
