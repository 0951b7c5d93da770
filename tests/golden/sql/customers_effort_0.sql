with

microdata as (

    select * from "shop"."main"."customers_microdata"

),

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

generalized as not materialized (

    select
        microdata."customer_id",
        microdata."order",
        microdata."größe",
        microdata."spending",
        microdata."churned",
        coalesce(cast(microdata."birth_date" as TEXT), '*') as "birth_date",
        coalesce(microdata."birth_date", range_1.range_lower) as "birth_date_lower",
        coalesce(microdata."birth_date", range_1.range_upper) as "birth_date_upper",
        coalesce(cast(microdata."zip" as TEXT), '*') as "zip",
        coalesce(cast(microdata."gender" as TEXT), '*') as "gender"
    from microdata
    cross join range_1

),

classes as (

    select
        effort,
        "birth_date",
        "zip",
        "gender",
        equivalence_class,
        class_size,
        is_suppressed
    from "shop"."main"."customers_classes"
    where effort = 0

),

effort as (

    select
        generalized."customer_id",
        generalized."birth_date",
        generalized."birth_date_lower",
        generalized."birth_date_upper",
        generalized."zip",
        generalized."gender",
        generalized."order",
        generalized."größe",
        generalized."spending",
        generalized."churned",
        case
            when classes.effort is null
                then error('customers_effort_0: the equivalence class of a record is not in customers_classes. Build again from the microdata on.')
            else classes.equivalence_class
        end as equivalence_class,
        case
            when classes.effort is null
                then error('customers_effort_0: the equivalence class of a record is not in customers_classes. Build again from the microdata on.')
            else classes.class_size
        end as class_size,
        case
            when classes.effort is null
                then error('customers_effort_0: the equivalence class of a record is not in customers_classes. Build again from the microdata on.')
            else classes.is_suppressed
        end as is_suppressed
    from generalized
    left join classes
        on
            generalized."birth_date" = classes."birth_date"
            and generalized."zip" = classes."zip"
            and generalized."gender" = classes."gender"

)

select * from effort
