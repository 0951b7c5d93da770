with

rows_1 as (

    select
        *,
        "ward" as "raised ward",
        "ward_leaf" as "raised ward_leaf",
        "month" as "raised month",
        "month_leaf" as "raised month_leaf"
    from "shop"."main"."hospital_linked_table_stays"

),

table_1_hierarchy_1 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."clinic_wards"
    group by cast(value as TEXT)

),

table_1_range_2 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."clinic_months"

),

table_1_hierarchy_2 as (

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
        from "shop"."main"."clinic_months"
    ) as leaves
    group by leaf

),

table_1_hierarchy_3 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."clinic_wards"
    group by cast(value as TEXT)

),

table_1_range_4 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."clinic_months"

),

table_1_hierarchy_4 as (

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
        from "shop"."main"."clinic_months"
    ) as leaves
    group by leaf

),

table_1_generalized as not materialized (

    select
        rows_1."stay_id",
        rows_1."patient_id",
        case
            when rows_1."ward" is null then '*'
            when table_1_hierarchy_1.label is null
                then error('hospital_linked_values_1: a value of ward is not in the hierarchy clinic_wards. Build again from the microdata on.')
            else table_1_hierarchy_1.label
        end as "ward",
        case
            when rows_1."month" is null then '*'
            when table_1_hierarchy_2.label is null
                then error('hospital_linked_values_1: a value of month is not in the hierarchy clinic_months. Build again from the microdata on.')
            else table_1_hierarchy_2.label
        end as "month",
        coalesce(table_1_hierarchy_2.label_lower, table_1_range_2.range_lower) as "month_lower",
        coalesce(table_1_hierarchy_2.label_upper, table_1_range_2.range_upper) as "month_upper",
        case
            when rows_1."raised ward" is null then '*'
            when table_1_hierarchy_3.label is null
                then error('hospital_linked_values_1: a value of raised ward is not in the hierarchy clinic_wards. Build again from the microdata on.')
            else table_1_hierarchy_3.label
        end as "raised ward",
        case
            when rows_1."raised month" is null then '*'
            when table_1_hierarchy_4.label is null
                then error('hospital_linked_values_1: a value of raised month is not in the hierarchy clinic_months. Build again from the microdata on.')
            else table_1_hierarchy_4.label
        end as "raised month",
        coalesce(table_1_hierarchy_4.label_lower, table_1_range_4.range_lower) as "raised month_lower",
        coalesce(table_1_hierarchy_4.label_upper, table_1_range_4.range_upper) as "raised month_upper"
    from rows_1
    left join table_1_hierarchy_1
        on rows_1."ward_leaf" = table_1_hierarchy_1.leaf
    cross join table_1_range_2
    left join table_1_hierarchy_2
        on rows_1."month_leaf" = table_1_hierarchy_2.leaf
    left join table_1_hierarchy_3
        on rows_1."raised ward_leaf" = table_1_hierarchy_3.leaf
    cross join table_1_range_4
    left join table_1_hierarchy_4
        on rows_1."raised month_leaf" = table_1_hierarchy_4.leaf

),

rows_2 as (

    select
        *,
        "test" as "raised test",
        "test_leaf" as "raised test_leaf"
    from "shop"."main"."hospital_linked_table_results"

),

table_2_hierarchy_1 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."clinic_tests"
    group by cast(value as TEXT)

),

table_2_hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."clinic_tests"
    group by cast(value as TEXT)

),

table_2_generalized as not materialized (

    select
        rows_2."result_id",
        rows_2."stay_id",
        case
            when rows_2."test" is null then '*'
            when table_2_hierarchy_1.label is null
                then error('hospital_linked_values_1: a value of test is not in the hierarchy clinic_tests. Build again from the microdata on.')
            else table_2_hierarchy_1.label
        end as "test",
        case
            when rows_2."raised test" is null then '*'
            when table_2_hierarchy_2.label is null
                then error('hospital_linked_values_1: a value of raised test is not in the hierarchy clinic_tests. Build again from the microdata on.')
            else table_2_hierarchy_2.label
        end as "raised test"
    from rows_2
    left join table_2_hierarchy_1
        on rows_2."test_leaf" = table_2_hierarchy_1.leaf
    left join table_2_hierarchy_2
        on rows_2."raised test_leaf" = table_2_hierarchy_2.leaf

),

linked_values as (

    select
        cast('stays' as TEXT) as linked_table,
        cast("stay_id" as TEXT) as record,
        cast("patient_id" as TEXT) as parent,
        case
            when "ward" <> '*' or "month" <> '*'
                then concat(concat('t', cast(length("ward") as TEXT), ':', "ward", '|n', cast(length("month") as TEXT), ':', "month"), '|', cast("month_lower" as TEXT), '|', cast("month_upper" as TEXT))
        end as value,
        case
            when "raised ward" <> '*' or "raised month" <> '*'
                then concat(concat('t', cast(length("raised ward") as TEXT), ':', "raised ward", '|n', cast(length("raised month") as TEXT), ':', "raised month"), '|', cast("raised month_lower" as TEXT), '|', cast("raised month_upper" as TEXT))
        end as raised_value
    from table_1_generalized
    union all

    select
        cast('results' as TEXT) as linked_table,
        cast("result_id" as TEXT) as record,
        cast("stay_id" as TEXT) as parent,
        case
            when "test" <> '*'
                then concat(concat('t', cast(length("test") as TEXT), ':', "test"))
        end as value,
        case
            when "raised test" <> '*'
                then concat(concat('t', cast(length("raised test") as TEXT), ':', "raised test"))
        end as raised_value
    from table_2_generalized

)

select * from linked_values
