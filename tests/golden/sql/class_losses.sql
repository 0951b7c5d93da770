with

released_efforts as (

    select * from "memory"."main"."mixed_classes"
    where effort > 0

),

costs as (

    select
        classes.effort,
        classes.equivalence_class,
        classes.records,
        classes.is_suppressed,
        case
            when classes.is_suppressed then classes.records
            else classes.records * classes."age_share"
        end as cost_1,
        case
            when classes.is_suppressed then classes.records
            else classes.records * case when classes."city" = '*' then 1 else cast(classes."city_level" as double) / 2 end
        end as cost_2
    from released_efforts as classes

),

losses as (

    select
        effort,
        equivalence_class,
        records,
        is_suppressed,
        cast(cost_1 + cost_2 as double)
            as total_information_loss
    from costs

)

select
    effort,
    equivalence_class,
    records,
    is_suppressed,
    total_information_loss,
    total_information_loss / records as loss_per_record,
    total_information_loss / nullif(sum(total_information_loss) over (partition by effort), 0) as loss_share
from losses
