with

microdata as (

    select * from "shop"."main"."surveyed_microdata"

),

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

hierarchy_1 as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper
    from (
        select
            lower_bound as leaf,
            cast(level_3 as TEXT) as label,
            min(lower_bound) over (partition by level_3) as label_lower,
            max(upper_bound) over (partition by level_3) as label_upper
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_zip"
    group by cast(value as TEXT)

),

hierarchy_3 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_gender"
    group by cast(value as TEXT)

),

generalized as not materialized (

    select
        microdata."customer_id",
        microdata."order",
        microdata."größe",
        microdata."spending",
        microdata."churned",
        microdata."sample_share",
        case
            when microdata."birth_date" is null then '*'
            when hierarchy_1.label is null
                then error('surveyed_effort_1: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else hierarchy_1.label
        end as "birth_date",
        coalesce(hierarchy_1.label_lower, range_1.range_lower) as "birth_date_lower",
        coalesce(hierarchy_1.label_upper, range_1.range_upper) as "birth_date_upper",
        case
            when microdata."zip" is null then '*'
            when hierarchy_2.label is null
                then error('surveyed_effort_1: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else hierarchy_2.label
        end as "zip",
        case
            when microdata."gender" is null then '*'
            when hierarchy_3.label is null
                then error('surveyed_effort_1: a value of gender is not in the hierarchy customers_hierarchy_gender. Build again from the microdata on.')
            else hierarchy_3.label
        end as "gender"
    from microdata
    cross join range_1
    left join hierarchy_1
        on microdata."birth_date_leaf" = hierarchy_1.leaf
    left join hierarchy_2
        on microdata."zip_leaf" = hierarchy_2.leaf
    left join hierarchy_3
        on microdata."gender_leaf" = hierarchy_3.leaf

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
    from "shop"."main"."surveyed_classes"
    where effort = 1

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
            when not generalized.sample_share <= cast(0.5 as double)
                then null
            when classes.effort is null
                then error('surveyed_effort_1: the equivalence class of a record is not in surveyed_classes. Build again from the microdata on.')
            else classes.equivalence_class
        end as equivalence_class,
        case
            when not generalized.sample_share <= cast(0.5 as double)
                then null
            when classes.effort is null
                then error('surveyed_effort_1: the equivalence class of a record is not in surveyed_classes. Build again from the microdata on.')
            else classes.class_size
        end as class_size,
        case
            when not generalized.sample_share <= cast(0.5 as double)
                then true
            when classes.effort is null
                then error('surveyed_effort_1: the equivalence class of a record is not in surveyed_classes. Build again from the microdata on.')
            else classes.is_suppressed
        end as is_suppressed
    from generalized
    left join classes
        on
            generalized."birth_date" = classes."birth_date"
            and generalized."zip" = classes."zip"
            and generalized."gender" = classes."gender"
            and generalized.sample_share <= cast(0.5 as double)

)

select * from effort
