with

records as (

    select * from "shop"."main"."hospital_linked_table_results"

),

generalized as not materialized (

    select
        records."result_id",
        records."stay_id",
        records."value",
        coalesce(cast(records."test" as TEXT), '*') as "test"
    from records

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
    case when decided.status = 'hidden' then '*' else generalized."test" end as "test",
    generalized."value"
from generalized
inner join decided
    on cast(generalized."result_id" as TEXT) = decided.record
inner join parents
    on cast(generalized."stay_id" as TEXT) = parents.record
order by decided.released_key
