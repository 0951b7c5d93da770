with

records as (

    select
        *,
        "test" as "raised test",
        "test_leaf" as "raised test_leaf"
    from "shop"."main"."hospital_linked_table_results"

),

hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."clinic_tests"
    group by cast(value as TEXT)

),

generalized as not materialized (

    select
        records."result_id",
        records."stay_id",
        records."value",
        coalesce(cast(records."test" as TEXT), '*') as "test",
        case
            when records."raised test" is null then '*'
            when hierarchy_2.label is null
                then error('hospital_released_results: a value of raised test is not in the hierarchy clinic_tests. Build again from the microdata on.')
            else hierarchy_2.label
        end as "raised test"
    from records
    left join hierarchy_2
        on records."raised test_leaf" = hierarchy_2.leaf

),

decided as (

    select
        record,
        status,
        released_key
    from "shop"."main"."hospital_linked_decisions_4"
    where
        linked_table = 'results'
        and status <> 'left out'

),

parents as (

    select
        record,
        released_key
    from "shop"."main"."hospital_linked_decisions_4"
    where
        linked_table = 'stays'
        and status <> 'left out'

)

select
    decided.released_key as "results_key",
    parents.released_key as "stays_key",
    case
        when decided.status = 'hidden' then '*'
        when decided.status = 'raised' then generalized."raised test"
        else generalized."test"
    end as "test",
    generalized."value"
from generalized
inner join decided
    on cast(generalized."result_id" as TEXT) = decided.record
inner join parents
    on cast(generalized."stay_id" as TEXT) = parents.record
order by decided.released_key
