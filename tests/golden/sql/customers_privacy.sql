with

frequencies as (

    select * from "shop"."main"."customers_frequencies"

),

effort_0_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

effort_0_generalized as not materialized (

    select
        frequencies."records",
        coalesce(cast(frequencies."birth_date" as TEXT), '*') as "birth_date",
        coalesce(frequencies."birth_date", effort_0_range_1.range_lower) as "birth_date_lower",
        coalesce(frequencies."birth_date", effort_0_range_1.range_upper) as "birth_date_upper",
        coalesce(cast(frequencies."zip" as TEXT), '*') as "zip",
        coalesce(cast(frequencies."gender" as TEXT), '*') as "gender"
    from frequencies
    cross join effort_0_range_1

),

effort_0_classes as (

    select
        "birth_date",
        "zip",
        "gender",
        sum(records) as class_size
    from effort_0_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_0_privacy as (

    select
        0 as effort,
        effort_0_classes.class_size,
        effort_0_classes.class_size < 4 as is_below_k,
        false as is_suppressed
    from effort_0_classes

),

effort_1_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

effort_1_hierarchy_1 as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper
    from (
        select
            lower_bound as leaf,
            cast(level_2 as TEXT) as label,
            min(lower_bound) over (partition by level_2) as label_lower,
            max(upper_bound) over (partition by level_2) as label_upper
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

effort_1_hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_zip"
    group by cast(value as TEXT)

),

effort_1_generalized as not materialized (

    select
        frequencies."records",
        case
            when frequencies."birth_date" is null then '*'
            when effort_1_hierarchy_1.label is null
                then error('customers_privacy: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else effort_1_hierarchy_1.label
        end as "birth_date",
        coalesce(effort_1_hierarchy_1.label_lower, effort_1_range_1.range_lower) as "birth_date_lower",
        coalesce(effort_1_hierarchy_1.label_upper, effort_1_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."zip" is null then '*'
            when effort_1_hierarchy_2.label is null
                then error('customers_privacy: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else effort_1_hierarchy_2.label
        end as "zip",
        coalesce(cast(frequencies."gender" as TEXT), '*') as "gender"
    from frequencies
    cross join effort_1_range_1
    left join effort_1_hierarchy_1
        on frequencies."birth_date_leaf" = effort_1_hierarchy_1.leaf
    left join effort_1_hierarchy_2
        on frequencies."zip_leaf" = effort_1_hierarchy_2.leaf

),

effort_1_classes as (

    select
        "birth_date",
        "zip",
        "gender",
        sum(records) as class_size
    from effort_1_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_1_suppression as (

    select
        coalesce(sum(case when class_size < 4 then class_size end), 0)
        <= floor(0.1 * sum(class_size)) as is_within_limit
    from effort_1_classes

),

effort_1_privacy as (

    select
        1 as effort,
        effort_1_classes.class_size,
        effort_1_classes.class_size < 4 as is_below_k,
        effort_1_classes.class_size < 4 and effort_1_suppression.is_within_limit as is_suppressed
    from effort_1_classes
    cross join effort_1_suppression

),

effort_2_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

effort_2_hierarchy_1 as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper
    from (
        select
            lower_bound as leaf,
            cast(level_2 as TEXT) as label,
            min(lower_bound) over (partition by level_2) as label_lower,
            max(upper_bound) over (partition by level_2) as label_upper
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

effort_2_hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_zip"
    group by cast(value as TEXT)

),

effort_2_hierarchy_3 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_gender"
    group by cast(value as TEXT)

),

effort_2_generalized as not materialized (

    select
        frequencies."records",
        case
            when frequencies."birth_date" is null then '*'
            when effort_2_hierarchy_1.label is null
                then error('customers_privacy: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else effort_2_hierarchy_1.label
        end as "birth_date",
        coalesce(effort_2_hierarchy_1.label_lower, effort_2_range_1.range_lower) as "birth_date_lower",
        coalesce(effort_2_hierarchy_1.label_upper, effort_2_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."zip" is null then '*'
            when effort_2_hierarchy_2.label is null
                then error('customers_privacy: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else effort_2_hierarchy_2.label
        end as "zip",
        case
            when frequencies."gender" is null then '*'
            when effort_2_hierarchy_3.label is null
                then error('customers_privacy: a value of gender is not in the hierarchy customers_hierarchy_gender. Build again from the microdata on.')
            else effort_2_hierarchy_3.label
        end as "gender"
    from frequencies
    cross join effort_2_range_1
    left join effort_2_hierarchy_1
        on frequencies."birth_date_leaf" = effort_2_hierarchy_1.leaf
    left join effort_2_hierarchy_2
        on frequencies."zip_leaf" = effort_2_hierarchy_2.leaf
    left join effort_2_hierarchy_3
        on frequencies."gender_leaf" = effort_2_hierarchy_3.leaf

),

effort_2_classes as (

    select
        "birth_date",
        "zip",
        "gender",
        sum(records) as class_size
    from effort_2_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_2_suppression as (

    select
        coalesce(sum(case when class_size < 4 then class_size end), 0)
        <= floor(0.1 * sum(class_size)) as is_within_limit
    from effort_2_classes

),

effort_2_privacy as (

    select
        2 as effort,
        effort_2_classes.class_size,
        effort_2_classes.class_size < 4 as is_below_k,
        effort_2_classes.class_size < 4 and effort_2_suppression.is_within_limit as is_suppressed
    from effort_2_classes
    cross join effort_2_suppression

),

effort_3_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

effort_3_hierarchy_1 as (

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

effort_3_hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_zip"
    group by cast(value as TEXT)

),

effort_3_hierarchy_3 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_gender"
    group by cast(value as TEXT)

),

effort_3_generalized as not materialized (

    select
        frequencies."records",
        case
            when frequencies."birth_date" is null then '*'
            when effort_3_hierarchy_1.label is null
                then error('customers_privacy: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else effort_3_hierarchy_1.label
        end as "birth_date",
        coalesce(effort_3_hierarchy_1.label_lower, effort_3_range_1.range_lower) as "birth_date_lower",
        coalesce(effort_3_hierarchy_1.label_upper, effort_3_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."zip" is null then '*'
            when effort_3_hierarchy_2.label is null
                then error('customers_privacy: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else effort_3_hierarchy_2.label
        end as "zip",
        case
            when frequencies."gender" is null then '*'
            when effort_3_hierarchy_3.label is null
                then error('customers_privacy: a value of gender is not in the hierarchy customers_hierarchy_gender. Build again from the microdata on.')
            else effort_3_hierarchy_3.label
        end as "gender"
    from frequencies
    cross join effort_3_range_1
    left join effort_3_hierarchy_1
        on frequencies."birth_date_leaf" = effort_3_hierarchy_1.leaf
    left join effort_3_hierarchy_2
        on frequencies."zip_leaf" = effort_3_hierarchy_2.leaf
    left join effort_3_hierarchy_3
        on frequencies."gender_leaf" = effort_3_hierarchy_3.leaf

),

effort_3_classes as (

    select
        "birth_date",
        "zip",
        "gender",
        sum(records) as class_size
    from effort_3_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_3_suppression as (

    select
        coalesce(sum(case when class_size < 4 then class_size end), 0)
        <= floor(0.1 * sum(class_size)) as is_within_limit
    from effort_3_classes

),

effort_3_privacy as (

    select
        3 as effort,
        effort_3_classes.class_size,
        effort_3_classes.class_size < 4 as is_below_k,
        effort_3_classes.class_size < 4 and effort_3_suppression.is_within_limit as is_suppressed
    from effort_3_classes
    cross join effort_3_suppression

),

classes as (
    select * from effort_0_privacy
    union all
    select * from effort_1_privacy
    union all
    select * from effort_2_privacy
    union all
    select * from effort_3_privacy

),

efforts as (
    select 0 as effort
    union all
    select 1 as effort
    union all
    select 2 as effort
    union all
    select 3 as effort

),

counts as (

    select
        efforts.effort,
        cast(min(case when not classes.is_suppressed then classes.class_size end) as bigint) as k,
        cast(count(case when not classes.is_suppressed then 1 end) as bigint) as equivalence_classes,
        cast(coalesce(sum(classes.class_size), 0) as bigint) as records,
        cast(coalesce(sum(case when not classes.is_suppressed then classes.class_size end), 0) as bigint) as released_records,
        cast(coalesce(sum(case when classes.is_suppressed then classes.class_size end), 0) as bigint) as suppressed_records,
        cast(coalesce(sum(case when classes.is_below_k then classes.class_size end), 0) as bigint) as records_below_k
    from efforts
    left join classes on efforts.effort = classes.effort
    group by efforts.effort

)

select
    effort,
    k,
    equivalence_classes,
    records,
    released_records,
    suppressed_records,
    records_below_k,
    cast(1.0 as double) / k as highest_risk,
    cast(equivalence_classes as double) / nullif(released_records, 0) as average_risk
from counts
order by effort
