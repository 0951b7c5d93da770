with

source as (

    select * from "vault"."main"."clinic_results"
    where encode(cast("stay_id" as TEXT)) in (select encode(cast(listed."stay_id" as TEXT)) from "shop"."main"."hospital_linked_table_stays" as listed)

),

leaves_1 as (

    select cast(value as TEXT) as leaf
    from "shop"."main"."clinic_tests"

)

select
    source."result_id",
    source."test",
    leaves_1.leaf as "test_leaf",
    source."stay_id",
    source."value"
from source
left join leaves_1
    on cast(source."test" as TEXT) = leaves_1.leaf
