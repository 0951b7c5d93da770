with

efforts as (

    select
        effort,
        case effort
            when 1 then 'hide (zip 1)'
        end as protection,
        max(case when kind = 'effort' then qf end) as qf,
        max(case when kind = 'effort' then zero_rule end) as zero_rule,
        max(case when kind = 'effort' then qnf end) as qnf,
        max(case when kind = 'effort' then refusal end) as refusal,
        count(case when kind = 'cell' then 1 end) as cells,
        count(case when status = 'hidden' then 1 end) as hidden_cells
    from "shop"."main"."counts_table_efforts"
    group by effort

),

judged as (

    select
        efforts.*,
        efforts.qf + 0.0 * efforts.qnf as q,
        case
            when efforts.refusal is not null then 'not chosen: ' || efforts.refusal
            when efforts.qnf < 0.5 then 'not chosen: a small cell is told too closely (QNF below 0.5)'
            when efforts.qf <= efforts.zero_rule and efforts.qf < 1
                then 'not chosen: it answers no better than who knows nothing'
        end as obstacle
    from efforts

),

ranked as (

    select
        judged.*,
        row_number() over (
            partition by case when judged.obstacle is null then 1 else 0 end
            order by
                judged.q desc,
                judged.effort asc
        ) as place
    from judged

)

select
    effort,
    protection,
    cells,
    hidden_cells,
    qf,
    zero_rule,
    qnf,
    q,
    obstacle is null as qualifies,
    obstacle is null and place = 1 as is_chosen,
    case
        when obstacle is not null then obstacle
        when place = 1 then 'chosen: the best Q of those that protect enough'
        else 'not chosen: another has a better Q'
    end as reason
from ranked
