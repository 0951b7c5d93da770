with

privacy as (

    select
        *,
        case when qnf_1 is not null then 1.0 - 1.0 / nullif(qnf_1, 0) end as qnf
    from (
        select
            *,
            cast("k" as double) as qnf_1
        from "shop"."main"."untested_privacy"
    ) as measured

),

combined as (

    select
        privacy.effort,
        privacy.k,
        privacy.records,
        privacy.suppressed_records,
        privacy.violating_records,
        privacy.broken_guarantees,
        1 - information_loss.loss as qf_mean,
        cast(null as bigint) as repetitions,
        cast(null as bigint) as paired_splits,
        cast(null as bigint) as all_splits,
        cast(null as double) as qf_low,
        cast(null as double) as qf_high,
        cast(null as double) as qf_difference,
        cast(null as double) as qf_difference_low,
        cast(null as double) as qf_difference_high,
        cast(null as double) as qf_difference_limit,
        cast(null as double) as zero_rule,
        cast(null as double) as zero_rule_difference,
        cast(null as double) as zero_rule_difference_low,
        cast(null as double) as qf_sd,
        cast(null as boolean) as is_non_inferior,
        cast(null as boolean) as beats_zero_rule,
        privacy.qnf,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as keeps_guarantees
    from privacy
    left join "shop"."main"."untested_information_loss" as information_loss on privacy.effort = information_loss.effort

),

qualified as (

    select
        *,
        keeps_guarantees and qf_mean is not null and qnf is not null as qualifies,
        case
            when qf_mean is null then 'its loss is not known'
            when qnf is null then 'QNF has no value'
        end as shortfall
    from combined

),

candidates as (

    select
        effort,
        k,
        qf_mean,
        qnf
    from qualified
    where qualifies

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

chord as (

    select
        max(qf_mean) as first_qf,
        max(case when qf_mean = best_qf then qnf end) as first_qnf,
        coalesce((max(qf_mean) - max(case when qnf = best_qnf then qf_mean end)) / nullif(max(qnf) - max(case when qf_mean = best_qf then qnf end), 0), 0) as chord_alpha
    from (
        select
            *,
            max(qf_mean) over () as best_qf,
            max(qnf) over () as best_qnf
        from candidates
    ) as ended

),

weighed as (

    select
        qualified.*,
        alpha_ranges.effort is not null as is_on_frontier,
        alpha_ranges.alpha_from,
        alpha_ranges.alpha_to,
        count(alpha_ranges.effort) over () as vertices,
        cast(0.0 as double) as alpha,
        (qualified.qf_mean - chord.first_qf) + chord.chord_alpha * (qualified.qnf - chord.first_qnf) as above_chord
    from qualified
    cross join chord
    left join alpha_ranges on qualified.effort = alpha_ranges.effort

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
        1 = 0 as is_undetermined,
        max(alpha_from) over () as break_point,
        qualifies as is_eligible,
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
        is_eligible and row_number() over (
            partition by is_eligible
            order by case when merit >= best_merit - 1e-12 * (1 + abs(best_merit)) then 0 else 1 end, case when is_undetermined then qf_mean end desc, k desc, effort asc
        ) = 1 as is_chosen
    from compared

),

chosen as (

    select
        *,
        sum(case when is_eligible then 1 else 0 end) over () as eligible_efforts,
        max(case when is_chosen then effort end) over () as chosen_effort,
        max(case when is_chosen then merit end) over () as chosen_merit,
        max(case when is_chosen then k end) over () as chosen_k,
        max(case when is_chosen then q end) over () as chosen_q,
        max(case when is_chosen then qf_mean end) over () as chosen_qf
    from ranked

),

reasoned as (

    select
        chosen.*,
        cast(null as TEXT) as coarser_features,
        cast(null as double) as choice_share,
        cast(null as integer) as runner_up,
        cast(null as double) as q_difference_to_runner_up,
        cast(null as double) as q_difference_to_runner_up_low,
        cast(null as double) as q_difference_to_runner_up_high
    from chosen

)

select
    effort,
    case effort
        when 0 then 'leaves everything as it is'
        when 1 then 'keeps birth_date by decade, zip in 4 groups; leaves gender as it is'
        when 2 then 'keeps birth_date by decade, zip in 3 groups; gives up gender'
        when 3 then 'keeps birth_date in 3 intervals, zip in 3 groups; gives up gender'
    end as levels_in_words,
    k,
    records,
    suppressed_records,
    violating_records,
    cast(null as TEXT) as target,
    cast('loss' as TEXT) as measure,
    repetitions,
    qf_mean,
    qf_sd,
    qf_low,
    qf_high,
    qf_difference,
    qf_difference_low,
    qf_difference_high,
    is_non_inferior,
    zero_rule,
    beats_zero_rule,
    qnf,
    alpha,
    q,
    is_on_frontier,
    alpha_from,
    alpha_to,
    qualifies,
    is_chosen,
    choice_share,
    runner_up,
    q_difference_to_runner_up,
    q_difference_to_runner_up_low,
    q_difference_to_runner_up_high,
    coarser_features,
    cast('max_q' as TEXT) as choose,
    case
        when effort = 0 then 'not chosen: effort 0 is the untouched table'
        when not keeps_guarantees and coalesce(records, 0) = 0 then 'does not qualify: there is no record'
        when not keeps_guarantees and coalesce(violating_records, 0) = 0 then 'does not qualify: no record is released'
        when not keeps_guarantees
            then
                'does not qualify: ' || cast(violating_records as TEXT)
                || ' of ' || cast(records as TEXT)
                || ' records ' || case when violating_records = 1 then 'breaks' else 'break' end || ' a guarantee'
                || coalesce(': ' || broken_guarantees, '')
        when not qualifies then 'does not qualify: ' || shortfall
        when is_chosen and eligible_efforts = 1
            then 'chosen: the only effort that qualifies'
        when is_chosen and is_undetermined
            then
                'chosen: highest QF of a frontier of 2 efforts, whose Q is the same at their break point, alpha '
                || cast(floor((break_point) * 1e4 + 0.5) / 1e4 as TEXT)
        when is_chosen
            then 'chosen: highest Q among ' || cast(eligible_efforts as TEXT) || ' efforts that qualify'
        when merit < chosen_merit - 1e-12 * (1 + abs(chosen_merit))
            then
                'not chosen: Q ' || cast(case when floor((q) * 1e4 + 0.5) = floor((chosen_q) * 1e4 + 0.5) then floor((q) * power(10, 12 - ceil(log10(greatest(abs(q), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(q), 1)))) else floor((q) * 1e4 + 0.5) / 1e4 end as TEXT)
                || ' is below ' || cast(case when floor((chosen_q) * 1e4 + 0.5) = floor((q) * 1e4 + 0.5) then floor((chosen_q) * power(10, 12 - ceil(log10(greatest(abs(chosen_q), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(chosen_q), 1)))) else floor((chosen_q) * 1e4 + 0.5) / 1e4 end as TEXT) || ' of effort ' || cast(chosen_effort as TEXT)
        when is_undetermined and qf_mean < chosen_qf
            then
                'not chosen: at the break point Q is that of effort ' || cast(chosen_effort as TEXT)
                || ' by construction, and QF ' || cast(case when floor((qf_mean) * 1e4 + 0.5) = floor((chosen_qf) * 1e4 + 0.5) then floor((qf_mean) * power(10, 12 - ceil(log10(greatest(abs(qf_mean), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(qf_mean), 1)))) else floor((qf_mean) * 1e4 + 0.5) / 1e4 end as TEXT)
                || ' is below ' || cast(case when floor((chosen_qf) * 1e4 + 0.5) = floor((qf_mean) * 1e4 + 0.5) then floor((chosen_qf) * power(10, 12 - ceil(log10(greatest(abs(chosen_qf), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(chosen_qf), 1)))) else floor((chosen_qf) * 1e4 + 0.5) / 1e4 end as TEXT)
        when k < chosen_k
            then
                'not chosen: as good as effort ' || cast(chosen_effort as TEXT)
                || ', but k ' || cast(k as TEXT)
                || ' is below ' || cast(chosen_k as TEXT)
        else
            'not chosen: as good as effort ' || cast(chosen_effort as TEXT) || ', which comes first'
    end || '; no model tested it' as reason,
    cast('2e42d17a' as TEXT) as fingerprint
from reasoned
order by effort
