with

source as (

    select * from "shop"."main"."customers"

),

digested as (

    select
        source."gender",
        source."customer_id",
        source."birth_date",
        source."zip",
        source."order",
        source."größe",
        source."spending",
        source."churned"
    from source

),

counted as (

    select
        "gender" as partition_value,
        count(*) as records,
        coalesce(sum(hash(hash(digested))), 0) as digest
    from digested
    group by "gender"

),

shared as (

    select
        'gender , customer_id , birth_date , zip , order , größe , spending , churned '
        || ' ' || (
            select count(*) || ' ' || coalesce(sum(hash(hash(digested))), 0)
            from "shop"."main"."customers_hierarchy_birth_date" as digested  -- noqa: AL05
        )
        || ' ' || (
            select count(*) || ' ' || coalesce(sum(hash(hash(digested))), 0)
            from "shop"."main"."customers_hierarchy_zip" as digested  -- noqa: AL05
        )
        || ' ' || (
            select count(*) || ' ' || coalesce(sum(hash(hash(digested))), 0)
            from "shop"."main"."customers_hierarchy_gender" as digested  -- noqa: AL05
        ) as digest

)

select
    counted.partition_value,
    counted.records,
    md5(
        case
            when counted.partition_value is null then 'null'
            else 'value ' || cast(counted.partition_value as TEXT)
        end
        || ' ' || counted.records || ' ' || counted.digest || ' ' || shared.digest
    ) as fingerprint,
    '<run_id>' as run_id
from counted
cross join shared
