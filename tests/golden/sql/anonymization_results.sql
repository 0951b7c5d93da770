with

results_1 as (

    select
        cast('<run_id>' as TEXT) as run_id,
        cast('<run_at>' as timestamp) as run_at,
        cast('customers' as TEXT) as name,
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
        is_chosen,
        fingerprint
    from "shop"."main"."customers_results"
    where true

)

select * from results_1
