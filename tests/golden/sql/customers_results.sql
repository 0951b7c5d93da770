with

quality as (

    select
        effort,
        splits,
        paired_splits,
        all_splits,
        mean as qf_mean,
        low as qf_low,
        high as qf_high,
        difference as qf_difference,
        difference_low as qf_difference_low,
        difference_high as qf_difference_high,
        difference_limit as qf_difference_limit,
        zero_rule,
        zero_rule_difference,
        zero_rule_difference_low,
        sd as qf_sd,
        is_non_inferior,
        beats_zero_rule
    from "shop"."main"."customers_quality"
    where
        target = 'churned'
        and model = 'decision_tree'
        and fit = 'once'
        and test_on = 'original'
        and measure = 'f1'

),

privacy as (

    select
        *,
        case when qnf_1 is not null then 1.0 - 1.0 / nullif(qnf_1, 0) end as qnf
    from (
        select
            *,
            cast("k" as double) as qnf_1
        from "shop"."main"."customers_privacy"
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
        coalesce(quality.splits, 0) as repetitions,
        coalesce(quality.paired_splits, 0) as paired_splits,
        coalesce(quality.all_splits, max(quality.all_splits) over (), 0) as all_splits,
        quality.qf_mean,
        quality.qf_low,
        quality.qf_high,
        quality.qf_difference,
        quality.qf_difference_low,
        quality.qf_difference_high,
        quality.qf_difference_limit,
        quality.zero_rule,
        quality.zero_rule_difference,
        quality.zero_rule_difference_low,
        quality.qf_sd,
        quality.is_non_inferior,
        quality.beats_zero_rule,
        privacy.qnf,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as keeps_guarantees
    from privacy
    left join quality on privacy.effort = quality.effort

),

complete as (

    select
        *,
        repetitions = all_splits and qf_mean is not null as is_complete
    from combined

),

qualified as (

    select
        *,
        keeps_guarantees and is_complete and qnf is not null and coalesce(beats_zero_rule, false) as qualifies,
        case
            when not is_complete
                then
                    'f1 has a value in ' || cast(repetitions as TEXT)
                    || ' of ' || cast(all_splits as TEXT) || ' splits'
            when beats_zero_rule is null
                then 'the zero rule lacks f1 in some split, so nothing says that QF is above it'
            when not beats_zero_rule and zero_rule_difference <= 0
                then
                    'QF ' || cast(case when floor((qf_mean) * 1e4 + 0.5) = floor((zero_rule) * 1e4 + 0.5) then floor((qf_mean) * power(10, 12 - ceil(log10(greatest(abs(qf_mean), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(qf_mean), 1)))) else floor((qf_mean) * 1e4 + 0.5) / 1e4 end as TEXT)
                    || ' is not above that of the zero rule, which has ' || cast(case when floor((zero_rule) * 1e4 + 0.5) = floor((qf_mean) * 1e4 + 0.5) then floor((zero_rule) * power(10, 12 - ceil(log10(greatest(abs(zero_rule), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(zero_rule), 1)))) else floor((zero_rule) * 1e4 + 0.5) / 1e4 end as TEXT)
            when not beats_zero_rule
                then
                    'QF ' || cast(case when floor((qf_mean) * 1e4 + 0.5) = floor((zero_rule) * 1e4 + 0.5) then floor((qf_mean) * power(10, 12 - ceil(log10(greatest(abs(qf_mean), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(qf_mean), 1)))) else floor((qf_mean) * 1e4 + 0.5) / 1e4 end as TEXT)
                    || ' is not surely above that of the zero rule, which has ' || cast(case when floor((zero_rule) * 1e4 + 0.5) = floor((qf_mean) * 1e4 + 0.5) then floor((zero_rule) * power(10, 12 - ceil(log10(greatest(abs(zero_rule), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(zero_rule), 1)))) else floor((zero_rule) * 1e4 + 0.5) / 1e4 end as TEXT)
                    || ': the interval of the difference begins at '
                    || cast(case when floor((zero_rule_difference_low) * 1e4 + 0.5) = floor((0) * 1e4 + 0.5) then floor((zero_rule_difference_low) * power(10, 12 - ceil(log10(greatest(abs(zero_rule_difference_low), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(zero_rule_difference_low), 1)))) else floor((zero_rule_difference_low) * 1e4 + 0.5) / 1e4 end as TEXT)
        end as shortfall
    from complete

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
        cast(0.05 as double) as alpha,
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

split_scores as (

    select
        effort,
        repetition,
        coalesce(fold, 0) as fold,
        value as qf
    from "shop"."main"."customers_scores"
    where
        target = 'churned'
        and model = 'decision_tree'
        and fit = 'once'
        and test_on = 'original'
        and measure = 'f1'
        and class is null
        and value is not null

),

drawable as (

    select
        split_scores.effort,
        split_scores.qf,
        case
            when min(split_scores.repetition) over () = max(split_scores.repetition) over () then split_scores.fold
            else split_scores.repetition
        end as unit
    from split_scores
    inner join candidates on split_scores.effort = candidates.effort

),

unit_scores as (

    select
        effort,
        unit,
        sum(qf) as qf,
        count(*) as splits
    from drawable
    group by
        effort,
        unit

),

units as (

    select
        unit,
        row_number() over (order by unit) - 1 as place,
        count(*) over () as units
    from (select distinct unit from drawable) as found

),

resamples as (

    select generate_series as generated_number from generate_series(1, 1000)

),

numbered as (

    select
        cast(resamples.generated_number as bigint) as resample,
        units.units,
        ((cast(resamples.generated_number as bigint) * units.units + units.place) * 48271 + 11) % 2147483647 as number
    from resamples
    cross join units
    where units.units >= 5

),

scrambled_once as (

    select
        resample,
        units,
        ((((number * number) % 2147483647) * ((number * number) % 2147483647) % 2147483647) * number % 2147483647 + 7) % 2147483647 as number
    from numbered

),

scrambled as (

    select
        resample,
        (((number * number) % 2147483647) * ((number * number) % 2147483647) % 2147483647) * number % 2147483647 % units as place
    from scrambled_once

),

drawn as (

    select
        scrambled.resample,
        units.unit,
        count(*) as times
    from scrambled
    inner join units on scrambled.place = units.place
    group by
        scrambled.resample,
        units.unit

),

resampled as (

    select
        drawn.resample,
        unit_scores.effort,
        sum(drawn.times * unit_scores.qf) / sum(drawn.times * unit_scores.splits) as qf_mean
    from drawn
    inner join unit_scores on drawn.unit = unit_scores.unit
    group by
        drawn.resample,
        unit_scores.effort

),

redrawn as (

    select
        resampled.resample,
        candidates.effort,
        candidates.k,
        candidates.qnf,
        floor((resampled.qf_mean) * power(10, 12 - ceil(log10(greatest(abs(resampled.qf_mean), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(resampled.qf_mean), 1)))) as qf_mean
    from resampled
    inner join candidates on resampled.effort = candidates.effort

),

merits as (

    select
        *,
        qf_mean + cast(0.05 as double) * qnf as merit
    from redrawn

),

compared_merits as (

    select
        *,
        max(merit) over (partition by resample) as best_merit
    from merits

),

ranked_merits as (

    select
        effort,
        row_number() over (
            partition by resample
            order by case when merit >= best_merit - 1e-12 * (1 + abs(best_merit)) then 0 else 1 end, k desc, effort asc
        ) as rank_of_merit
    from compared_merits

),

shares as (

    select
        effort,
        cast(sum(case when rank_of_merit = 1 then 1 else 0 end) as double)
        / count(*) as choice_share
    from ranked_merits
    group by effort

),

others as (

    select
        chosen_effort,
        effort,
        chosen_merit - merit as q_difference,
        row_number() over (order by merit desc, k desc, effort asc) as place
    from chosen
    where is_eligible and not is_chosen

),

next_best as (

    select *
    from others
    where place = 1

),

beside_next_best as (

    select
        next_best.chosen_effort,
        next_best.effort,
        next_best.q_difference,
        count(*) as splits,
        floor((avg(best_scores.qf - next_best_scores.qf)) * power(10, 12 - ceil(log10(greatest(abs(avg(best_scores.qf - next_best_scores.qf)), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(avg(best_scores.qf - next_best_scores.qf)), 1)))) as difference,
        floor((stddev_samp(best_scores.qf - next_best_scores.qf)) * power(10, 12 - ceil(log10(greatest(abs(stddev_samp(best_scores.qf - next_best_scores.qf)), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(stddev_samp(best_scores.qf - next_best_scores.qf)), 1)))) as sd,
        'f1' as measure
    from next_best
    inner join split_scores as best_scores on next_best.chosen_effort = best_scores.effort
    inner join split_scores as next_best_scores
        on
            next_best.effort = next_best_scores.effort
            and best_scores.repetition = next_best_scores.repetition
            and best_scores.fold = next_best_scores.fold
    group by
        next_best.chosen_effort,
        next_best.effort,
        next_best.q_difference

),

halved as (

    select
        *,
        case
            when splits >= 5
                then
                    sd * sqrt(
                        cast(1.0 as double) / splits + cast(0.3 as double) / (1 - 0.3)
                    ) * (
                        select max(cast(quantiles.value as double))
                        from "shop"."main"."customers_evaluation" as quantiles
                        where
                            quantiles.kind = 'quantile'
                            and quantiles.name = 'two_sided'
                            and quantiles.other = '0.95'
                            and quantiles.bin = beside_next_best.splits
                    )
        end as half,
        case
            when measure in ('accuracy', 'balanced_accuracy', 'precision', 'recall', 'sensitivity', 'specificity', 'f1', 'roc_auc', 'concordance_index', 'top_overlap') then 1
            when measure in ('matthews_correlation', 'silhouette', 'rank_correlation') then 2
            when measure in ('adjusted_rand_index') then 1.5
            when measure in ('brier_score') then 2
        end as width
    from beside_next_best

),

runner_up as (

    select
        chosen_effort,
        effort as runner_up,
        q_difference as q_difference_to_runner_up,
        q_difference - difference
        + case
            when difference - half < -width then -width
            when difference - half > width then width
            else difference - half
        end as q_difference_to_runner_up_low,
        q_difference - difference
        + case
            when difference + half < -width then -width
            when difference + half > width then width
            else difference + half
        end as q_difference_to_runner_up_high
    from halved

),

coarser as (

    select
        effort,
        string_agg(name || ' at level ' || cast(cast(value as integer) as TEXT), ', ' order by name, value) as coarser_features
    from "shop"."main"."customers_evaluation"
    where kind = 'reading'
    group by effort

),

reasoned as (

    select
        chosen.*,
        coarser.coarser_features,
        case when not chosen.is_undetermined then shares.choice_share end as choice_share,
        runner_up.runner_up,
        runner_up.q_difference_to_runner_up,
        runner_up.q_difference_to_runner_up_low,
        runner_up.q_difference_to_runner_up_high
    from chosen
    left join coarser on chosen.effort = coarser.effort
    left join shares on chosen.effort = shares.effort
    left join runner_up on chosen.is_chosen and chosen.effort = runner_up.chosen_effort

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
    cast('churned' as TEXT) as target,
    cast('f1' as TEXT) as measure,
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
    end as reason,
    cast('0b4b731b' as TEXT) as fingerprint
from reasoned
order by effort
