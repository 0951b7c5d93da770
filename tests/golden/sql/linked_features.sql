with

records_stays as (

    select
        *,
        encode(cast("stay_id" as TEXT)) as own_key,
        encode(cast("patient_id" as TEXT)) as subject_key,
        "ward" as "raised ward",
        "ward_leaf" as "raised ward_leaf"
    from "shop"."main"."hospital_linked_table_stays"

),

records_results as (

    select
        records.*,
        encode(cast(records."result_id" as TEXT)) as own_key,
        parents.subject_key
    from "shop"."main"."hospital_linked_table_results" as records
    inner join records_stays as parents
        on encode(cast(records."stay_id" as TEXT)) = parents.own_key

),

of_stays_hierarchy_1 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."clinic_wards"
    group by cast(value as TEXT)

),

of_stays_hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."clinic_wards"
    group by cast(value as TEXT)

),

of_stays_generalized as not materialized (

    select
        records_stays."stay_id",
        records_stays."subject_key",
        records_stays."cost",
        case
            when records_stays."ward" is null then '*'
            when of_stays_hierarchy_1.label is null
                then error('hospital_linked_features_1: a value of ward is not in the hierarchy clinic_wards. Build again from the microdata on.')
            else of_stays_hierarchy_1.label
        end as "ward",
        case
            when records_stays."raised ward" is null then '*'
            when of_stays_hierarchy_2.label is null
                then error('hospital_linked_features_1: a value of raised ward is not in the hierarchy clinic_wards. Build again from the microdata on.')
            else of_stays_hierarchy_2.label
        end as "raised ward"
    from records_stays
    left join of_stays_hierarchy_1
        on records_stays."ward_leaf" = of_stays_hierarchy_1.leaf
    left join of_stays_hierarchy_2
        on records_stays."raised ward_leaf" = of_stays_hierarchy_2.leaf

),

features_stays as (

    select
        listed.subject_key,
        count(*) as "stays_count",
        avg(listed."cost") as "stays_mean_cost",
        max(case when decided.status = 'released' and listed."ward" in ('heart', 'operative') then 1 when decided.status = 'raised' and listed."raised ward" in ('heart', 'operative') then 1 else 0 end) as "stays_any_ward"
    from of_stays_generalized as listed
    inner join "shop"."main"."hospital_linked_decisions_1" as decided
        on
            decided.linked_table = 'stays'
            and cast(listed."stay_id" as TEXT) = decided.record
    where decided.status <> 'left out'
    group by listed.subject_key

),

features_results as (

    select
        listed.subject_key,
        count(*) as "results_count"
    from records_results as listed
    inner join "shop"."main"."hospital_linked_decisions_1" as decided
        on
            decided.linked_table = 'results'
            and cast(listed."result_id" as TEXT) = decided.record
    where decided.status <> 'left out'
    group by listed.subject_key

),

effort as (

    select * from "shop"."main"."hospital_effort_1"

)

select
    effort.*,
    coalesce(features_stays."stays_count", 0) as "stays_count",
    features_stays."stays_mean_cost",
    coalesce(features_stays."stays_any_ward", 0) as "stays_any_ward",
    coalesce(features_results."results_count", 0) as "results_count"
from effort
left join features_stays
    on encode(cast(effort."patient_id" as TEXT)) = features_stays.subject_key
left join features_results
    on encode(cast(effort."patient_id" as TEXT)) = features_results.subject_key
