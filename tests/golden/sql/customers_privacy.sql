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
        cast(sum(class_size) as double) as people,
        sum(case when class_size = 1 then 1 else 0 end) as ones,
        min(population_size) as smallest_population,
        sum(population_size) as population,
        sum(cast(class_size as double) / nullif(population_size, 0)) as found_people,
        min("churned_distinct_l") as "churned_distinct_l",
        min("churned_entropy_l") as "churned_entropy_l",
        case when count("churned_highest_share") = count(*) then max("churned_highest_share") end as "churned_highest_share",
        case when count("churned_t") = count(*) then max("churned_t") end as "churned_t",
        case when count("churned_beta") = count(*) then max("churned_beta") end as "churned_beta",
        case when count("churned_delta") = count(*) then max("churned_delta") end as "churned_delta"
    from released
    group by effort

),

privacy as (

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
        cast(1.0 as double) / measured.k as highest_risk,
        measured.equivalence_classes / measured.people as average_risk,
        measured.ones / measured.people as sample_uniqueness,
        cast(null as double) as journalist_highest_risk,
        cast(null as double) as journalist_average_risk,
        cast(null as double) as marketer_risk,
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

)

select * from privacy
order by effort
