with


quality as (

    select
        effort,
        splits,
        paired_splits,
        all_splits,
        mean as qf_mean,
        sd as qf_sd,
        low as qf_low,
        high as qf_high,
        difference as qf_difference,
        difference_low as qf_difference_low,
        difference_high as qf_difference_high,
        difference_limit as qf_difference_limit,
        is_non_inferior
    from "shop"."main"."customers_quality"
    where
        target = 'churned'
        and model = 'decision_tree'
        and fit = 'once'
        and test_on = 'original'
        and measure = 'f1'

),


zero_rule as (

    select max(mean) as zero_qf
    from "shop"."main"."customers_quality"
    where
        effort = 0
        and target = 'churned'
        and model = 'zero_rule'
        and model <> 'decision_tree'
        and fit = 'once'
        and test_on = 'original'
        and measure = 'f1'

),

privacy as (

    select * from "shop"."main"."customers_privacy"

),

combined as (

    select
        privacy.effort,
        privacy.k,
        privacy.records,
        privacy.suppressed_records,
        privacy.violating_records,
        coalesce(quality.splits, 0) as repetitions,
        coalesce(quality.paired_splits, 0) as paired_splits,
        coalesce(quality.all_splits, max(quality.all_splits) over (), 0) as all_splits,
        quality.qf_mean,
        quality.qf_sd,
        quality.qf_low,
        quality.qf_high,
        quality.qf_difference,
        quality.qf_difference_low,
        quality.qf_difference_high,
        quality.qf_difference_limit,
        quality.is_non_inferior,
        zero_rule.zero_qf,
        coalesce(quality.qf_mean > zero_rule.zero_qf, true) as is_useful,
        1 - cast(1.0 as double) / privacy.k as qnf,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as qualifies
    from privacy
    cross join zero_rule
    left join quality on privacy.effort = quality.effort

),


complete as (

    select
        *,
        coalesce(qualifies and repetitions = all_splits and qf_mean is not null and qnf is not null, false) as is_candidate
    from combined

),

candidates as (

    select
        effort,
        qf_mean,
        qnf,
        is_useful
    from complete
    where is_candidate

),

crossings as (

    select
        lines.effort,
        max(case when others.qnf < lines.qnf then (others.qf_mean - lines.qf_mean) / (lines.qnf - others.qnf) end) as better_from,
        min(case when others.qnf > lines.qnf then (lines.qf_mean - others.qf_mean) / (others.qnf - lines.qnf) end) as better_to,
        max(case
            when others.qnf = lines.qnf and others.qf_mean > lines.qf_mean then 1
            when others.qnf = lines.qnf and others.qf_mean = lines.qf_mean and others.effort < lines.effort then 1
            else 0
        end) as is_dominated
    from candidates as lines
    cross join candidates as others
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


frontier as (

    select
        count(*) as vertices,
        max(candidates.qf_mean) as first_qf,
        min(candidates.qnf) as first_qnf,
        coalesce(
            (max(candidates.qf_mean) - min(candidates.qf_mean)) / nullif(max(candidates.qnf) - min(candidates.qnf), 0), 0
        ) as chord_alpha
    from alpha_ranges
    inner join candidates on alpha_ranges.effort = candidates.effort
    where candidates.is_useful

),

weighed as (

    select
        complete.*,
        alpha_ranges.effort is not null as is_on_frontier,
        alpha_ranges.alpha_from,
        alpha_ranges.alpha_to,
        frontier.vertices,
        cast(0.05 as double) as alpha,
        (complete.qf_mean - frontier.first_qf) + frontier.chord_alpha * (complete.qnf - frontier.first_qnf) as above_chord
    from complete
    cross join frontier
    left join alpha_ranges on complete.effort = alpha_ranges.effort

),

scored as (

    select
        *,
        qf_mean + alpha * qnf as q
    from weighed

),

eligible as (

    select
        *,
        is_candidate as is_eligible,
        q as merit
    from scored

),

compared as (

    select
        *,
        max(case when is_eligible then merit end) over () as best_merit
    from eligible

),

ranked as (

    select
        *,
        row_number() over (
            partition by is_eligible
            order by
                case when merit >= best_merit - 1e-12 * (1 + abs(best_merit)) then 0 else 1 end,
                k desc,
                effort asc
        ) as rank_of_merit
    from compared

),

chosen as (

    select
        *,
        is_eligible and rank_of_merit = 1 as is_chosen,
        sum(case when is_eligible then 1 else 0 end) over () as eligible_efforts,
        max(case when is_eligible and rank_of_merit = 1 then effort end) over () as chosen_effort,
        max(case when is_eligible and rank_of_merit = 1 then merit end) over () as chosen_merit,
        max(case when is_eligible and rank_of_merit = 1 then k end) over () as chosen_k,
        max(case when is_eligible and rank_of_merit = 1 then q end) over () as chosen_q
    from ranked

),

reasoned as (

    select
        *,
        case
            when effort = 0 then 'not chosen: effort 0 is the untouched table'
            when not qualifies and coalesce(records, 0) = 0 then 'does not qualify: there is no record'
            when not qualifies and coalesce(violating_records, 0) = 0 then 'does not qualify: no record is released'
            when not qualifies
                then
                    'does not qualify: ' || cast(violating_records as TEXT) || ' of ' || cast(records as TEXT)
                    || ' records ' || case when violating_records = 1 then 'breaks' else 'break' end || ' a guarantee'
            when repetitions < all_splits or qf_mean is null
                then
                    'not chosen: f1 has a value in ' || cast(repetitions as TEXT)
                    || ' of ' || cast(all_splits as TEXT) || ' splits'
            when is_chosen and eligible_efforts = 1
                then 'chosen: the only effort that qualifies'
            when is_chosen
                then 'chosen: highest Q among ' || cast(eligible_efforts as TEXT) || ' efforts that qualify'
            when merit < chosen_merit - 1e-12 * (1 + abs(chosen_merit))
                then
                    'not chosen: Q ' || cast(case when floor((q) * 1e4 + 0.5) = floor((chosen_q) * 1e4 + 0.5) then floor((q) * power(10, 12 - ceil(log10(greatest(abs(q), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(q), 1)))) else floor((q) * 1e4 + 0.5) / 1e4 end as TEXT) || ' is below ' || cast(case when floor((chosen_q) * 1e4 + 0.5) = floor((q) * 1e4 + 0.5) then floor((chosen_q) * power(10, 12 - ceil(log10(greatest(abs(chosen_q), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(chosen_q), 1)))) else floor((chosen_q) * 1e4 + 0.5) / 1e4 end as TEXT)
                    || ' of effort ' || cast(chosen_effort as TEXT)
            when k < chosen_k
                then
                    'not chosen: as good as effort ' || cast(chosen_effort as TEXT) || ', but k ' || cast(k as TEXT)
                    || ' is below ' || cast(chosen_k as TEXT)
            else 'not chosen: as good as effort ' || cast(chosen_effort as TEXT) || ', which comes first'
        end as reason
    from chosen

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
    qf_difference_low,
    qf_difference_high,
    is_non_inferior,
    qnf,
    alpha,
    q,
    is_on_frontier,
    alpha_from,
    alpha_to,
    qualifies,
    is_chosen,
    cast('max_q' as TEXT) as choose,
    reason,
    cast('b8931857' as TEXT) as fingerprint
from reasoned
order by effort
