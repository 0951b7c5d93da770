with

generalized as (

    select encode(case when "birth_date" is null then 'n' else 't' || cast(length(cast("birth_date" as TEXT)) as TEXT) || ':' || cast("birth_date" as TEXT) end || case when "zip" is null then 'n' else 't' || cast(length(cast("zip" as TEXT)) as TEXT) || ':' || cast("zip" as TEXT) end || case when "gender" is null then 'n' else 't' || cast(length(cast("gender" as TEXT)) as TEXT) || ':' || cast("gender" as TEXT) end) as equivalence_class
    from "shop"."main_release"."customers_anonymized"

),

sizes as (

    select
        "equivalence_class" as key_1,
        cast(count(*) as bigint) as class_size,
        cast(count(*) as bigint) as records
    from generalized
    group by
        "equivalence_class"

),

measures as (

    select
        sizes.key_1 as "equivalence_class",
        sizes.class_size,
        sizes.records
    from sizes as sizes

),

classes as (

    select
        *,
        coalesce(
            class_size < 4,
            false
        ) as is_violating
    from measures

),

violating as (

    select
        class_size,
        records
    from classes
    where is_violating

)

select
    class_size,
    records,
    cast(null as TEXT) as missing_in,
    cast(null as bigint) as missing
from violating
