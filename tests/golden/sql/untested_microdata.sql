with

source as (

    select * from "shop"."main"."customers"

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
    source."churned"
from source
left join leaves_1
    on source."birth_date" = leaves_1.found
left join leaves_2
    on cast(source."zip" as TEXT) = leaves_2.leaf
left join leaves_3
    on cast(source."gender" as TEXT) = leaves_3.leaf
