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
        max(label_upper) as label_upper,
        max(
            cast(label_upper - label_lower as double)
            / cast(whole_upper - whole_lower as double)
        ) as share
    from (
        select
            lower_bound as leaf,
            cast(level_1 as TEXT) as label,
            min(lower_bound) over () as whole_lower,
            max(upper_bound) over () as whole_upper,
            min(lower_bound) over (partition by level_1) as label_lower,
            max(upper_bound) over (partition by level_1) as label_upper
        from "memory"."main"."cells_measured_hierarchy_0"
    ) as leaves
    group by leaf

),

hierarchy_2 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_1 as TEXT) as label,
            cast(count(*) over (partition by level_1) as double)
            / count(*) over () as share
        from "memory"."main"."cells_measured_hierarchy_1"
    ) as leaves
    group by leaf

),

generalized as not materialized (

    select
        microdata."record_id",
        case
            when microdata."age" is null then '*'
            when hierarchy_1.label is null
                then error('cells_measured_result: a value of age is not in the hierarchy cells_measured_hierarchy_0. Build again from the microdata on.')
            else hierarchy_1.label
        end as "age",
        coalesce(hierarchy_1.label_lower, range_1.range_lower) as "age_lower",
        coalesce(hierarchy_1.label_upper, range_1.range_upper) as "age_upper",
        case
            when microdata."age" is null or hierarchy_1.label = '*' then 1
            else hierarchy_1.share
        end as "age_share",
        case
            when microdata."city" is null then '*'
            when hierarchy_2.label is null
                then error('cells_measured_result: a value of city is not in the hierarchy cells_measured_hierarchy_1. Build again from the microdata on.')
            else hierarchy_2.label
        end as "city",
        case
            when microdata."city" is null or hierarchy_2.label = '*' then 1
            else hierarchy_2.share
        end as "city_share"
    from microdata
    cross join range_1
    left join hierarchy_1
        on microdata."age_leaf" = hierarchy_1.leaf
    left join hierarchy_2
        on microdata."city_leaf" = hierarchy_2.leaf

),

shown as (

    select distinct
        base_1,
        cell_1,
        base_2,
        cell_2
    from dbt_anonymize_cells

)

select
    generalized."record_id",
    shown.cell_1 as "age",
    case
        when shown.cell_1 = '*' then range_1.range_lower
        else generalized."age_lower"
    end as "age_lower",
    case
        when shown.cell_1 = '*' then range_1.range_upper
        else generalized."age_upper"
    end as "age_upper",
    cast(
        case when shown.cell_1 = '*' then 3 else 1 end
        as integer
    ) as "age_level",
    cast(
        case when shown.cell_1 = '*' then 1 else generalized."age_share" end
        as double
    ) as "age_share",
    shown.cell_2 as "city",
    cast(
        case when shown.cell_2 = '*' then 3 else 1 end
        as integer
    ) as "city_level",
    cast(
        case when shown.cell_2 = '*' then 1 else generalized."city_share" end
        as double
    ) as "city_share"
from generalized
inner join shown
    on
        generalized."age" = shown.base_1
        and generalized."city" = shown.base_2
cross join range_1
