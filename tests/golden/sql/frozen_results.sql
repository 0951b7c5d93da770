with

privacy as (

    select
        *,
        case when qnf_1 is not null then 1 - 1 / qnf_1 end as qnf
    from (
        select
            *,
            cast("k" as double) as qnf_1
        from "memory"."main"."population"
    ) as measured

),


broken as (

    select
        effort,
        count(case when is_violating then 1 end) as violating_classes,
        min(class_size) as smallest
    from "memory"."main"."frequencies"
    group by effort

),

frozen as (

    select
        privacy.*,
        privacy.effort = 2 and privacy.meets_guarantees as is_kept,
        broken.violating_classes,
        broken.smallest,
        floor(0.1 * privacy.records) as may_be_suppressed
    from privacy
    left join broken on privacy.effort = broken.effort

)

select
    effort,
    cast(null as TEXT) as levels_in_words,
    k,
    records,
    suppressed_records,
    violating_records,
    cast(null as TEXT) as target,
    cast(null as TEXT) as measure,
    cast(null as bigint) as repetitions,
    cast(null as double) as qf_mean,
    cast(null as double) as qf_sd,
    cast(null as double) as qf_low,
    cast(null as double) as qf_high,
    cast(null as double) as qf_difference,
    cast(null as double) as qf_difference_low,
    cast(null as double) as qf_difference_high,
    cast(null as boolean) as is_non_inferior,
    cast(null as double) as zero_rule,
    cast(null as boolean) as beats_zero_rule,
    qnf,
    cast(null as double) as alpha,
    cast(null as double) as q,
    cast(null as boolean) as is_on_frontier,
    cast(null as double) as alpha_from,
    cast(null as double) as alpha_to,
    is_kept as qualifies,
    is_kept as is_chosen,
    cast(null as double) as choice_share,
    cast(null as integer) as runner_up,
    cast(null as double) as q_difference_to_runner_up,
    cast(null as double) as q_difference_to_runner_up_low,
    cast(null as double) as q_difference_to_runner_up_high,
    cast(null as TEXT) as coarser_features,
    cast('frozen' as TEXT) as choose,
    case
        when effort = 0 then 'not released: the untouched source'
        when is_kept then 'chosen: frozen, and keeps its guarantees'
        else
            'not released: frozen, but breaks '
            || coalesce(broken_guarantees, 'its guarantees') || '; '
            || cast(violating_records as TEXT) || ' of ' || cast(records as TEXT) || ' records in '
            || cast(violating_classes as TEXT) || ' classes would have to go, where suppression_limit '
            || '0.1' || ' allows '
            || cast(cast(may_be_suppressed as bigint) as TEXT)
            || '. What would hold now: suppression_limit ' || cast(ceil(violating_records * 10000.0 / nullif(records, 0)) / 10000 as TEXT)
            || ', or, if nothing is suppressed, k = ' || cast(smallest as TEXT)
    end as reason,
    cast('0a1b2c3d' as TEXT) as fingerprint
from frozen
order by effort
