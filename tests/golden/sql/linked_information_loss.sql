with

linked as (

    select
        effort,
        sum(loss) as loss,
        count(*) as tables
    from "shop"."main"."hospital_linked_losses"
    group by effort

)

select
    own.effort,
    floor(((own.loss + coalesce(linked.loss, 0)) / (1 + coalesce(linked.tables, 0))) * 1e12 + 0.5) / 1e12 as loss
from "shop"."main"."hospital_information_loss" as own
left join linked on own.effort = linked.effort
order by own.effort
