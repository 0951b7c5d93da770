with

source as (

    select * from "shop"."main"."customers"

),

partitions as (

    select
        partition_value,
        md5(fingerprint || ' <definition>') as partition_digest
    from "shop"."main"."monthly_partitions"

),

values_1 as (

    select distinct "birth_date" as found
    from source
    where "birth_date" is not null

),

leaves_1 as (

    select
        values_1.found,
        hierarchy.lower_bound as leaf
    from values_1
    inner join "shop"."main"."customers_hierarchy_birth_date" as hierarchy
        on
            values_1.found >= hierarchy.lower_bound
            and values_1.found < hierarchy.upper_bound

),

leaves_2 as (

    select cast(value as TEXT) as leaf
    from "shop"."main"."customers_hierarchy_zip"

),

leaves_3 as (

    select cast(value as TEXT) as leaf
    from "shop"."main"."customers_hierarchy_gender"

)

select
    source."customer_id",
    source."birth_date",
    leaves_1.leaf as "birth_date_leaf",
    source."zip",
    leaves_2.leaf as "zip_leaf",
    source."gender",
    leaves_3.leaf as "gender_leaf",
    source."order",
    source."größe",
    source."spending",
    source."churned",
    case
        when source."gender" is not null then partitions.partition_digest
        else (
            select missing.partition_digest
            from partitions as missing
            where missing.partition_value is null
        )
    end as partition_digest
from source
left join partitions on source."gender" = partitions.partition_value
left join leaves_1
    on source."birth_date" = leaves_1.found
left join leaves_2
    on cast(source."zip" as TEXT) = leaves_2.leaf
left join leaves_3
    on cast(source."gender" as TEXT) = leaves_3.leaf
