with

classes as (

    select * from "shop"."main"."customers_classes"

),

released as (

    select * from classes
    where not is_suppressed

),

efforts as (

    select 0 as effort
    union all
    select 1 as effort
    union all
    select 2 as effort
    union all
    select 3 as effort

),

counts as (

    select
        effort,
        sum(records) as records,
        sum(case when is_suppressed then records else 0 end) as suppressed_records,
        sum(case when is_violating then records else 0 end) as violating_records,
        sum(case when is_violating and (class_size < 4) then records else 0 end) as broken_1,
        sum(case when is_violating and not coalesce(class_size < 4, false) then records else 0 end) as broken_2
    from classes
    group by effort

),

measured as (

    select
        effort,
        min(class_size) as k,
        count(*) as equivalence_classes,
        sum(records) as released_records,
        cast(1 as double) / min(class_size) as highest_risk,
        cast(1 as double) * count(*) / nullif(sum(class_size), 0) as average_risk,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as sample_uniqueness,
        cast(1 as double) / nullif(min(population_size), 0) as journalist_highest_risk,
        greatest(
            cast(1 as double) * count(*) / nullif(sum(population_size), 0),
            sum(cast(class_size as double) / nullif(population_size, 0)) / nullif(sum(class_size), 0)
        ) as journalist_average_risk,
        sum(cast(class_size as double) / nullif(population_size, 0)) / nullif(sum(class_size), 0) as marketer_risk,
        min("churned_distinct_l") as "churned_distinct_l",
        min("churned_entropy_l") as "churned_entropy_l",
        case when count("churned_highest_share") = count(*) then max("churned_highest_share") end as "churned_highest_share",
        case when count("churned_t") = count(*) then max("churned_t") end as "churned_t",
        case when count("churned_beta") = count(*) then max("churned_beta") end as "churned_beta",
        case when count("churned_delta") = count(*) then max("churned_delta") end as "churned_delta"
    from released
    group by effort

)

select
    efforts.effort,
    cast(measured.k as bigint) as k,
    cast(coalesce(measured.equivalence_classes, 0) as bigint) as equivalence_classes,
    cast(coalesce(counts.records, 0) as bigint) as records,
    cast(coalesce(measured.released_records, 0) as bigint) as released_records,
    cast(coalesce(counts.suppressed_records, 0) as bigint) as suppressed_records,
    cast(coalesce(counts.violating_records, 0) as bigint) as violating_records,
    coalesce(
        efforts.effort > 0
        and measured.released_records > 0
        and counts.violating_records <= floor(0.1 * counts.records),
        false
    ) as meets_guarantees,
    nullif(substring(case when counts.broken_1 > 0 then ', ' || cast(counts.broken_1 as TEXT) || ' k_anonymity (k = 4)' else '' end || case when counts.broken_2 > 0 then ', ' || cast(counts.broken_2 as TEXT) || ' the k of the effort' else '' end, 3), '') as broken_guarantees,
    measured.highest_risk,
    measured.average_risk,
    measured.sample_uniqueness,
    measured.journalist_highest_risk,
    measured.journalist_average_risk,
    measured.marketer_risk,
    cast(null as double) as population_uniqueness,
    measured."churned_distinct_l",
    measured."churned_entropy_l",
    measured."churned_highest_share",
    measured."churned_t",
    measured."churned_beta",
    measured."churned_delta"
from efforts
left join counts on efforts.effort = counts.effort
left join measured on efforts.effort = measured.effort
order by efforts.effort
