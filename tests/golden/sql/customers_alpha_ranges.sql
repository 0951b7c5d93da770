with


lines as (

    select
        effort,
        qf_mean,
        qnf
    from "shop"."main"."customers_results"
    where qualifies or (effort = 0 and (beats_zero_rule is not null or repetitions is null) and qnf is not null)

),

crossings as (

    select
        lines.effort,
        max(
            case when others.qnf < lines.qnf then (others.qf_mean - lines.qf_mean) / (lines.qnf - others.qnf) end
        ) as better_from,
        min(
            case when others.qnf > lines.qnf then (lines.qf_mean - others.qf_mean) / (others.qnf - lines.qnf) end
        ) as better_to,
        max(
            case
                when others.qnf <> lines.qnf then 0
                when others.qf_mean > lines.qf_mean then 1
                when others.qf_mean = lines.qf_mean and others.effort < lines.effort then 1
                else 0
            end
        ) as is_dominated
    from lines as lines
    cross join lines as others
    group by lines.effort

),

positive_crossings as (

    select
        effort,
        case when better_from > 0 then better_from else 0 end as alpha_from,
        better_to as alpha_to
    from crossings
    where is_dominated = 0

),

envelope as (

    select
        effort,
        alpha_from
    from positive_crossings
    where alpha_to is null or alpha_to - alpha_from > 1e-12 * (1 + alpha_from)

),

alpha_ranges as (

    select
        effort,
        case when row_number() over (order by alpha_from) = 1 then 0 else alpha_from end as alpha_from,
        lead(alpha_from) over (order by alpha_from) as alpha_to
    from envelope

),

ranges as (

    select
        alpha_from,
        alpha_to,
        effort,
        effort > 0 as is_releasable
    from alpha_ranges

)

select
    alpha_from,
    alpha_to,
    effort,
    is_releasable,
    is_releasable and ((alpha_from > 0 and alpha_to is not null) or (alpha_from = 0 and alpha_to is null)) as is_usable
from ranges
order by alpha_from
