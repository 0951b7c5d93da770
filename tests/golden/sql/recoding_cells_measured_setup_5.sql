create temporary table dbt_anonymize_cells as
with

microdata as (

    select * from "memory"."main"."cells_measured_microdata"

),

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "memory"."main"."cells_measured_hierarchy_0"

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
            cast(level_1 as TEXT) as label,
            min(lower_bound) over (partition by level_1) as label_lower,
            max(upper_bound) over (partition by level_1) as label_upper
        from "memory"."main"."cells_measured_hierarchy_0"
    ) as leaves
    group by leaf

),

hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "memory"."main"."cells_measured_hierarchy_1"
    group by cast(value as TEXT)

),

generalized as not materialized (

    select
        microdata."disease",
        case
            when microdata."age" is null then '*'
            when hierarchy_1.label is null
                then error('cells_measured_setup: a value of age is not in the hierarchy cells_measured_hierarchy_0. Build again from the microdata on.')
            else hierarchy_1.label
        end as "age",
        coalesce(hierarchy_1.label_lower, range_1.range_lower) as "age_lower",
        coalesce(hierarchy_1.label_upper, range_1.range_upper) as "age_upper",
        case
            when microdata."city" is null then '*'
            when hierarchy_2.label is null
                then error('cells_measured_setup: a value of city is not in the hierarchy cells_measured_hierarchy_1. Build again from the microdata on.')
            else hierarchy_2.label
        end as "city"
    from microdata
    cross join range_1
    left join hierarchy_1
        on microdata."age_leaf" = hierarchy_1.leaf
    left join hierarchy_2
        on microdata."city_leaf" = hierarchy_2.leaf

),

counted as (

    select
        "age" as base_1,
        "age" as cell_1,
        "city" as base_2,
        "city" as cell_2,
        "disease" as value_1,
        count(*) as records
    from generalized
    group by
        "age",
        "city",
        "disease"

)

select * from counted
