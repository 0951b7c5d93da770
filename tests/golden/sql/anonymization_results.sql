with

results_1 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('customers' as TEXT) as name,
        effort,
        levels_in_words,
        k,
        records,
        suppressed_records,
        violating_records,
        target,
        measure,
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
        choose,
        reason,
        fingerprint
    from "shop"."main"."customers_results"
    where true

),

results_2 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('guests' as TEXT) as name,
        effort,
        levels_in_words,
        k,
        records,
        suppressed_records,
        violating_records,
        target,
        measure,
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
        choose,
        reason,
        fingerprint
    from "shop"."main"."guests_results"
    where true

),

results_3 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('members' as TEXT) as name,
        effort,
        levels_in_words,
        k,
        records,
        suppressed_records,
        violating_records,
        target,
        measure,
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
        choose,
        reason,
        fingerprint
    from "shop"."main"."members_results"
    where true

),

results_4 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('monthly' as TEXT) as name,
        effort,
        levels_in_words,
        k,
        records,
        suppressed_records,
        violating_records,
        target,
        measure,
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
        choose,
        reason,
        fingerprint
    from "shop"."main"."monthly_results"
    where true

),

results_5 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('surveyed' as TEXT) as name,
        effort,
        levels_in_words,
        k,
        records,
        suppressed_records,
        violating_records,
        target,
        measure,
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
        choose,
        reason,
        fingerprint
    from "shop"."main"."surveyed_results"
    where true

),

results_6 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('untested' as TEXT) as name,
        effort,
        levels_in_words,
        k,
        records,
        suppressed_records,
        violating_records,
        target,
        measure,
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
        choose,
        reason,
        fingerprint
    from "shop"."main"."untested_results"
    where true

)

select * from results_1
union all
select * from results_2
union all
select * from results_3
union all
select * from results_4
union all
select * from results_5
union all
select * from results_6
