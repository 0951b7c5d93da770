with

scores as (

    select
        effort,
        repetition,
        value
    from "shop"."main"."customers_scores"
    where test_on = 'original' and measure = 'f1'

),

privacy as (

    select * from "shop"."main"."customers_privacy"

),


paired as (

    select
        scores.effort,
        scores.value,
        scores.value - baseline.value as difference
    from scores
    left join scores as baseline
        on scores.repetition = baseline.repetition and baseline.effort = 0

),

quality as (

    select
        effort,
        count(value) as repetitions,
        floor(avg(value) * 1e12 + 0.5) / 1e12 as qf_mean,
        stddev_samp(value) as qf_sd,
        floor(avg(difference) * 1e12 + 0.5) / 1e12 as qf_difference
    from paired
    group by effort

),


intervals as (

    select
        effort,
        repetitions,
        qf_mean,
        qf_sd,
        qf_difference,
        case (repetitions - 1)
            when 1 then 12.706205
            when 2 then 4.302653
            when 3 then 3.182446
            when 4 then 2.776445
            when 5 then 2.570582
            when 6 then 2.446912
            when 7 then 2.364624
            when 8 then 2.306004
            when 9 then 2.262157
            when 10 then 2.228139
            else
                1.959964
                + 2.372271 / nullif(cast((repetitions - 1) as double), 0)
                + 2.822499 / nullif(power(cast((repetitions - 1) as double), 2), 0)
                + 2.555850 / nullif(power(cast((repetitions - 1) as double), 3), 0)
        end as t_quantile,
        qf_sd * sqrt(
            cast(1.0 as double) / repetitions + cast(0.3 as double) / (1 - 0.3)
        ) as corrected_error
    from quality

),

combined as (

    select
        privacy.effort,
        privacy.k,
        privacy.records,
        privacy.suppressed_records,
        privacy.violating_records,
        intervals.repetitions,
        intervals.qf_mean,
        intervals.qf_sd,
        intervals.qf_mean - intervals.t_quantile * intervals.corrected_error as qf_low,
        intervals.qf_mean + intervals.t_quantile * intervals.corrected_error as qf_high,
        intervals.qf_difference,
        1 - cast(1.0 as double) / privacy.k as qnf,
        cast(0.05 as double) as alpha,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as qualifies
    from privacy
    left join intervals on privacy.effort = intervals.effort

),

scored as (

    select
        *,
        qf_mean + alpha * qnf as q,
        coalesce(repetitions = max(repetitions) over (), false) as is_complete
    from combined

),

ranked as (

    select
        *,
        row_number() over (
            partition by qualifies and is_complete and q is not null
            order by q desc, k desc, effort asc
        ) as rank_of_q
    from scored

)

select
    effort,
    k,
    records,
    suppressed_records,
    violating_records,
    repetitions,
    qf_mean,
    qf_sd,
    qf_low,
    qf_high,
    qf_difference,
    qnf,
    alpha,
    q,
    qualifies,
    qualifies and is_complete and q is not null and rank_of_q = 1 as is_chosen,
    cast('50097995' as TEXT) as fingerprint
from ranked
order by effort
