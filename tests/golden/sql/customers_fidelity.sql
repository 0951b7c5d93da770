with

released as (

    select
        0 as effort,
        case when "birth_date" <> '*' then "birth_date_lower" end as lower_1,
        case when "birth_date" <> '*' then "birth_date_upper" end as upper_1,
        "zip" as text_2,
        0 as level_2,
        "gender" as text_3,
        0 as level_3,
        cast("churned" as TEXT) as value_4,
        count(*) as records
    from "shop"."main"."customers_effort_0"
    where not is_suppressed
    group by
        "birth_date",
        "birth_date_lower",
        "birth_date_upper",
        "zip",
        "gender",
        "churned"

    union all

    select
        1 as effort,
        case when "birth_date" <> '*' then "birth_date_lower" end as lower_1,
        "birth_date_upper" as upper_1,
        "zip" as text_2,
        case when "zip" = '*' then -1 else 1 end as level_2,
        "gender" as text_3,
        0 as level_3,
        cast("churned" as TEXT) as value_4,
        count(*) as records
    from "shop"."main"."customers_effort_1"
    where not is_suppressed
    group by
        "birth_date",
        "birth_date_lower",
        "birth_date_upper",
        "zip",
        "gender",
        "churned"

    union all

    select
        2 as effort,
        case when "birth_date" <> '*' then "birth_date_lower" end as lower_1,
        "birth_date_upper" as upper_1,
        "zip" as text_2,
        case when "zip" = '*' then -1 else 2 end as level_2,
        "gender" as text_3,
        case when "gender" = '*' then -1 else 1 end as level_3,
        cast("churned" as TEXT) as value_4,
        count(*) as records
    from "shop"."main"."customers_effort_2"
    where not is_suppressed
    group by
        "birth_date",
        "birth_date_lower",
        "birth_date_upper",
        "zip",
        "gender",
        "churned"

    union all

    select
        3 as effort,
        case when "birth_date" <> '*' then "birth_date_lower" end as lower_1,
        "birth_date_upper" as upper_1,
        "zip" as text_2,
        case when "zip" = '*' then -1 else 2 end as level_2,
        "gender" as text_3,
        case when "gender" = '*' then -1 else 1 end as level_3,
        cast("churned" as TEXT) as value_4,
        count(*) as records
    from "shop"."main"."customers_effort_3"
    where not is_suppressed
    group by
        "birth_date",
        "birth_date_lower",
        "birth_date_upper",
        "zip",
        "gender",
        "churned"

),

labels_1 as (

    select
        lower_1,
        upper_1,
        row_number() over (order by lower_1, upper_1) as label_1
    from released
    group by
        lower_1,
        upper_1

),

leaves_1 as (

    select
        row_number() over (order by lower_bound) - 1 as position,
        lower_bound,
        upper_bound,
        (
            cast(lower_bound - min(lower_bound) over () as double)
            + cast(upper_bound - min(lower_bound) over () as double)
        ) / 2
        / cast(max(upper_bound) over () - min(lower_bound) over () as double) as midpoint
    from "shop"."main"."customers_hierarchy_birth_date"
    group by
        lower_bound,
        upper_bound

    union all

    select
        -1 as position,
        null as lower_bound,
        null as upper_bound,
        null as midpoint
    from labels_1
    where upper_1 is null

),

covered_1 as (

    select
        labels_1.label_1,
        leaves_1.position,
        leaves_1.midpoint
    from labels_1
    left join leaves_1
        on case
            when labels_1.upper_1 is null then leaves_1.position = -1
            when labels_1.lower_1 is null then true
            when leaves_1.position = -1 then false
            when labels_1.lower_1 >= leaves_1.lower_bound
                then labels_1.lower_1 < leaves_1.upper_bound
            else labels_1.upper_1 > leaves_1.lower_bound
        end

),

labels_2 as (

    select
        text_2,
        level_2,
        row_number() over (order by text_2, level_2) as label_2
    from released
    group by
        text_2,
        level_2

),

leaves_2 as (

    select
        row_number() over (order by leaf) - 1 as position,
        leaf
    from (select distinct cast(value as TEXT) as leaf from "shop"."main"."customers_hierarchy_zip") as leaves

    union all

    select
        -1 as position,
        null as leaf
    from labels_2
    where text_2 = '*' and level_2 = 0

),

branches_2 as (

    select distinct
        cast(hierarchy.value as TEXT) as text_2,
        0 as level_2,
        leaves.position
    from "shop"."main"."customers_hierarchy_zip" as hierarchy
    inner join leaves_2 as leaves on cast(hierarchy.value as TEXT) = leaves.leaf

    union all

    select distinct
        cast(hierarchy.level_1 as TEXT) as text_2,
        1 as level_2,
        leaves.position
    from "shop"."main"."customers_hierarchy_zip" as hierarchy
    inner join leaves_2 as leaves on cast(hierarchy.value as TEXT) = leaves.leaf

    union all

    select distinct
        cast(hierarchy.level_2 as TEXT) as text_2,
        2 as level_2,
        leaves.position
    from "shop"."main"."customers_hierarchy_zip" as hierarchy
    inner join leaves_2 as leaves on cast(hierarchy.value as TEXT) = leaves.leaf

    union all

    select
        '*' as text_2,
        -1 as level_2,
        position
    from leaves_2

    union all

    select
        '*' as text_2,
        0 as level_2,
        position
    from leaves_2
    where position = -1

),

covered_2 as (

    select
        labels_2.label_2,
        branches_2.position,
        cast(null as double) as midpoint
    from labels_2
    left join branches_2
        on
            labels_2.text_2 = branches_2.text_2
            and labels_2.level_2 = branches_2.level_2

),

labels_3 as (

    select
        text_3,
        level_3,
        row_number() over (order by text_3, level_3) as label_3
    from released
    group by
        text_3,
        level_3

),

leaves_3 as (

    select
        row_number() over (order by leaf) - 1 as position,
        leaf
    from (select distinct cast(value as TEXT) as leaf from "shop"."main"."customers_hierarchy_gender") as leaves

    union all

    select
        -1 as position,
        null as leaf
    from labels_3
    where text_3 = '*' and level_3 = 0

),

branches_3 as (

    select distinct
        cast(hierarchy.value as TEXT) as text_3,
        0 as level_3,
        leaves.position
    from "shop"."main"."customers_hierarchy_gender" as hierarchy
    inner join leaves_3 as leaves on cast(hierarchy.value as TEXT) = leaves.leaf

    union all

    select
        '*' as text_3,
        -1 as level_3,
        position
    from leaves_3

    union all

    select
        '*' as text_3,
        0 as level_3,
        position
    from leaves_3
    where position = -1

),

covered_3 as (

    select
        labels_3.label_3,
        branches_3.position,
        cast(null as double) as midpoint
    from labels_3
    left join branches_3
        on
            labels_3.text_3 = branches_3.text_3
            and labels_3.level_3 = branches_3.level_3

),

labels_4 as (

    select
        value_4,
        row_number() over (order by value_4) as label_4
    from released
    group by
        value_4

),

spread as (

    select
        attribute_id,
        label_id,
        position,
        midpoint,
        cast(1 as double) / count(*) over (partition by attribute_id, label_id) as weight
    from (

        select
            1 as attribute_id,
            label_1 as label_id,
            case when position >= -1 then position else error('customers_fidelity: a label of birth_date is not in its hierarchy. Build again from the microdata on.') end as position,
            midpoint
        from covered_1

        union all

        select
            2 as attribute_id,
            label_2 as label_id,
            case when position >= -1 then position else error('customers_fidelity: a label of zip is not in its hierarchy. Build again from the microdata on.') end as position,
            midpoint
        from covered_2

        union all

        select
            3 as attribute_id,
            label_3 as label_id,
            case when position >= -1 then position else error('customers_fidelity: a label of gender is not in its hierarchy. Build again from the microdata on.') end as position,
            midpoint
        from covered_3

        union all

        select
            4 as attribute_id,
            label_4 as label_id,
            case when value_4 is null then -1 else label_4 end as position,
            cast(null as double) as midpoint
        from labels_4
    ) as leaves

),

views as (

    select
        1 as view_id,
        cast('birth_date' as TEXT) as attribute,
        cast(null as TEXT) as other_attribute,
        1 as attribute_id,
        cast(null as integer) as other_attribute_id,
        false as is_numeric,
        false as is_queried

    union all

    select
        2 as view_id,
        cast('zip' as TEXT) as attribute,
        cast(null as TEXT) as other_attribute,
        2 as attribute_id,
        cast(null as integer) as other_attribute_id,
        false as is_numeric,
        false as is_queried

    union all

    select
        3 as view_id,
        cast('gender' as TEXT) as attribute,
        cast(null as TEXT) as other_attribute,
        3 as attribute_id,
        cast(null as integer) as other_attribute_id,
        false as is_numeric,
        false as is_queried

    union all

    select
        4 as view_id,
        cast('churned' as TEXT) as attribute,
        cast(null as TEXT) as other_attribute,
        4 as attribute_id,
        cast(null as integer) as other_attribute_id,
        false as is_numeric,
        false as is_queried

    union all

    select
        5 as view_id,
        cast('birth_date' as TEXT) as attribute,
        cast('zip' as TEXT) as other_attribute,
        1 as attribute_id,
        cast(2 as integer) as other_attribute_id,
        false as is_numeric,
        true as is_queried

    union all

    select
        6 as view_id,
        cast('birth_date' as TEXT) as attribute,
        cast('gender' as TEXT) as other_attribute,
        1 as attribute_id,
        cast(3 as integer) as other_attribute_id,
        false as is_numeric,
        true as is_queried

    union all

    select
        7 as view_id,
        cast('zip' as TEXT) as attribute,
        cast('gender' as TEXT) as other_attribute,
        2 as attribute_id,
        cast(3 as integer) as other_attribute_id,
        false as is_numeric,
        true as is_queried

    union all

    select
        8 as view_id,
        cast('birth_date' as TEXT) as attribute,
        cast('churned' as TEXT) as other_attribute,
        1 as attribute_id,
        cast(4 as integer) as other_attribute_id,
        false as is_numeric,
        false as is_queried

),

coded as (

    select
        released.effort,
        labels_1.label_1,
        labels_2.label_2,
        labels_3.label_3,
        labels_4.label_4,
        released.records
    from released
    inner join labels_1
        on
            released.lower_1 is not distinct from labels_1.lower_1
            and released.upper_1 is not distinct from labels_1.upper_1
    inner join labels_2
        on
            released.text_2 is not distinct from labels_2.text_2
            and released.level_2 is not distinct from labels_2.level_2
    inner join labels_3
        on
            released.text_3 is not distinct from labels_3.text_3
            and released.level_3 is not distinct from labels_3.level_3
    inner join labels_4
        on
            released.value_4 is not distinct from labels_4.value_4

),

counts as (

    select
        1 as view_id,
        effort,
        label_1 as label_id,
        cast(null as bigint) as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_1

    union all

    select
        2 as view_id,
        effort,
        label_2 as label_id,
        cast(null as bigint) as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_2

    union all

    select
        3 as view_id,
        effort,
        label_3 as label_id,
        cast(null as bigint) as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_3

    union all

    select
        4 as view_id,
        effort,
        label_4 as label_id,
        cast(null as bigint) as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_4

    union all

    select
        5 as view_id,
        effort,
        label_1 as label_id,
        label_2 as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_1,
        label_2

    union all

    select
        6 as view_id,
        effort,
        label_1 as label_id,
        label_3 as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_1,
        label_3

    union all

    select
        7 as view_id,
        effort,
        label_2 as label_id,
        label_3 as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_2,
        label_3

    union all

    select
        8 as view_id,
        effort,
        label_1 as label_id,
        label_4 as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        label_1,
        label_4

),

cells as (

    select
        counts.view_id,
        counts.effort,
        spread.position as leaf_1,
        spread.midpoint as midpoint_1,
        coalesce(other_spread.position, 0) as leaf_2,
        other_spread.midpoint as midpoint_2,
        sum(counts.records * spread.weight * coalesce(other_spread.weight, 1)) as records
    from counts
    inner join views on counts.view_id = views.view_id
    inner join spread
        on
            views.attribute_id = spread.attribute_id
            and counts.label_id = spread.label_id
    left join spread as other_spread
        on
            views.other_attribute_id = other_spread.attribute_id
            and counts.other_label_id = other_spread.label_id
    group by
        counts.view_id,
        counts.effort,
        spread.position,
        spread.midpoint,
        other_spread.position,
        other_spread.midpoint

),

efforts as (

    select
        0 as effort,
        cast(1 as double) as share

    union all

    select
        1 as effort,
        cast(1 as double) as share

    union all

    select
        2 as effort,
        cast(1 as double) as share

    union all

    select
        3 as effort,
        cast(1 as double) as share

),

totals as (

    select
        efforts.effort,
        efforts.share,
        cast(sum(released.records) as double) as records,
        max(cast(sum(case when efforts.effort = 0 then released.records end) as double)) over ()
            as original_records
    from efforts
    left join released on efforts.effort = released.effort
    group by
        efforts.effort,
        efforts.share

),

shares as (

    select
        cells.view_id,
        totals.effort,
        cells.leaf_1,
        cells.midpoint_1,
        cells.leaf_2,
        cells.midpoint_2,
        cells.records / totals.original_records as original,
        0 as released
    from cells
    cross join totals
    where cells.effort = 0

    union all

    select
        cells.view_id,
        cells.effort,
        cells.leaf_1,
        cells.midpoint_1,
        cells.leaf_2,
        cells.midpoint_2,
        0 as original,
        cells.records / totals.records as released
    from cells
    inner join totals on cells.effort = totals.effort

),

compared as (

    select
        view_id,
        effort,
        leaf_1,
        midpoint_1,
        leaf_2,
        midpoint_2,
        sum(original) as original,
        sum(released) as released
    from shares
    group by
        view_id,
        effort,
        leaf_1,
        midpoint_1,
        leaf_2,
        midpoint_2

),

separations as (

    select
        compared.view_id,
        compared.effort,
        sum(abs(compared.original - compared.released)) / 2 as distance,
        sum(
            (compared.released - compared.original) * (compared.released - compared.original)
            / (totals.original_records * compared.original + totals.records * compared.released)
        ) as separation,
        count(case when compared.original > 0 then 1 end) as original_cells
    from compared
    inner join totals on compared.effort = totals.effort
    group by
        compared.view_id,
        compared.effort

),

distances as (

    select
        separations.view_id,
        separations.effort,
        separations.distance,
        separations.separation / (totals.original_records + totals.records)
        * power(totals.original_records * totals.records / (totals.original_records + totals.records), 2) as pmse,
        case
            when separations.separation = 0 then 0
            else
                separations.separation * totals.records * (totals.original_records + totals.records)
                / nullif(separations.original_cells - 1, 0)
        end as pmse_ratio
    from separations
    inner join totals on separations.effort = totals.effort

),

centres as (

    select
        view_id,
        effort,
        sum(original * midpoint_1) / nullif(sum(original), 0) as original_1,
        count(distinct case when original > 0 then leaf_1 end) as original_values_1,
        sum(original * midpoint_2) / nullif(sum(original), 0) as original_2,
        count(distinct case when original > 0 then leaf_2 end) as original_values_2,
        sum(released * midpoint_1) / nullif(sum(released), 0) as released_1,
        count(distinct case when released > 0 then leaf_1 end) as released_values_1,
        sum(released * midpoint_2) / nullif(sum(released), 0) as released_2,
        count(distinct case when released > 0 then leaf_2 end) as released_values_2
    from compared
    where midpoint_1 is not null and midpoint_2 is not null
    group by
        view_id,
        effort

),

deviations as (

    select
        centres.view_id,
        centres.effort,
        compared.original,
        compared.midpoint_1 - centres.original_1 as original_1,
        compared.midpoint_2 - centres.original_2 as original_2,
        least(centres.original_values_1, centres.original_values_2) as original_values,
        compared.released,
        compared.midpoint_1 - centres.released_1 as released_1,
        compared.midpoint_2 - centres.released_2 as released_2,
        least(centres.released_values_1, centres.released_values_2) as released_values
    from compared
    inner join centres
        on
            compared.view_id = centres.view_id
            and compared.effort = centres.effort
    where compared.midpoint_1 is not null and compared.midpoint_2 is not null

),

coefficients as (

    select
        view_id,
        effort,
        case
            when min(original_values) > 1
                then
                    sum(original * original_1 * original_2)
                    / sqrt(sum(original * original_1 * original_1))
                    / sqrt(sum(original * original_2 * original_2))
            else 0
        end as original,
        case
            when min(released_values) > 1
                then
                    sum(released * released_1 * released_2)
                    / sqrt(sum(released * released_1 * released_1))
                    / sqrt(sum(released * released_2 * released_2))
            else 0
        end as released
    from deviations
    group by
        view_id,
        effort

),

margins as (

    select
        compared.view_id,
        compared.effort,
        compared.leaf_1,
        compared.leaf_2,
        compared.original,
        sum(compared.original) over (partition by compared.view_id, compared.effort, compared.leaf_1)
        * sum(compared.original) over (partition by compared.view_id, compared.effort, compared.leaf_2)
            as original_expected,
        compared.released,
        sum(compared.released) over (partition by compared.view_id, compared.effort, compared.leaf_1)
        * sum(compared.released) over (partition by compared.view_id, compared.effort, compared.leaf_2)
            as released_expected
    from compared
    inner join views on compared.view_id = views.view_id
    where views.other_attribute is not null and not views.is_numeric

),

contingencies as (

    select
        view_id,
        effort,
        sum(case when original > 0 then original * original / original_expected else 0 end) - 1 as original,
        count(distinct case when original > 0 then leaf_1 end) as original_values_1,
        count(distinct case when original > 0 then leaf_2 end) as original_values_2,
        sum(case when released > 0 then released * released / released_expected else 0 end) - 1 as released,
        count(distinct case when released > 0 then leaf_1 end) as released_values_1,
        count(distinct case when released > 0 then leaf_2 end) as released_values_2
    from margins
    group by
        view_id,
        effort

),

associations as (

    select
        view_id,
        effort,
        case
            when least(original_values_1, original_values_2) > 1
                then sqrt(greatest(original, 0) / (least(original_values_1, original_values_2) - 1))
            else 0
        end as original,
        case
            when least(released_values_1, released_values_2) > 1
                then sqrt(greatest(released, 0) / (least(released_values_1, released_values_2) - 1))
            else 0
        end as released
    from contingencies

),

correlations as (

    select
        view_id,
        effort,
        original,
        released
    from coefficients

    union all

    select
        view_id,
        effort,
        original,
        released
    from associations

),

digits as (

    select 0 as digit

    union all

    select 1 as digit

    union all

    select 2 as digit

    union all

    select 3 as digit

    union all

    select 4 as digit

    union all

    select 5 as digit

    union all

    select 6 as digit

    union all

    select 7 as digit

    union all

    select 8 as digit

    union all

    select 9 as digit

),

seeds as (

    select
        ones.digit + 10 * tens.digit + 100 * hundreds.digit as query,
        sides.digit as side
    from digits as ones
    cross join digits as tens
    cross join digits as hundreds
    cross join digits as sides
    where
        ones.digit + 10 * tens.digit + 100 * hundreds.digit < 100
        and sides.digit < 4

),

draws_0 as (

    select
        query,
        side,
        (cast(1 as bigint) * 15485863 + query * 104729 + side * 7919) % 2147483647 as draw
    from seeds

),

draws_1 as (

    select
        query,
        side,
        (draw * draw + 12345) % 2147483647 as draw
    from draws_0

),

draws_2 as (

    select
        query,
        side,
        (draw * draw + 12345) % 2147483647 as draw
    from draws_1

),

draws_3 as (

    select
        query,
        side,
        (draw * draw + 12345) % 2147483647 as draw
    from draws_2

),

queries as (

    select
        query,
        max(case when side = 0 then draw end) / cast(2147483647 as double)
            as draw_0,
        max(case when side = 1 then draw end) / cast(2147483647 as double)
            as draw_1,
        max(case when side = 2 then draw end) / cast(2147483647 as double)
            as draw_2,
        max(case when side = 3 then draw end) / cast(2147483647 as double)
            as draw_3
    from draws_3
    group by query

),

sizes as (

    select
        1 as attribute_id,
        count(*) as leaves
    from leaves_1
    where position >= 0

    union all

    select
        2 as attribute_id,
        count(*) as leaves
    from leaves_2
    where position >= 0

    union all

    select
        3 as attribute_id,
        count(*) as leaves
    from leaves_3
    where position >= 0

),

ranges as (

    select
        views.view_id,
        queries.query,
        floor(least(queries.draw_0, queries.draw_1) * sizes.leaves) as low_1,
        floor(greatest(queries.draw_0, queries.draw_1) * sizes.leaves) as high_1,
        coalesce(floor(least(queries.draw_2, queries.draw_3) * other_sizes.leaves), 0) as low_2,
        coalesce(floor(greatest(queries.draw_2, queries.draw_3) * other_sizes.leaves), 0) as high_2
    from views
    cross join queries
    inner join sizes on views.attribute_id = sizes.attribute_id
    left join sizes as other_sizes on views.other_attribute_id = other_sizes.attribute_id
    where views.is_queried

),

answers as (

    select
        compared.view_id,
        compared.effort,
        ranges.query,
        sum(compared.original * coalesce(compared.midpoint_1, compared.midpoint_2))
        / nullif(sum(compared.original), 0) as original_mean,
        sum(compared.original) as original,
        sum(compared.released * coalesce(compared.midpoint_1, compared.midpoint_2))
        / nullif(sum(compared.released), 0) as released_mean,
        sum(compared.released) as released
    from compared
    inner join ranges
        on
            compared.view_id = ranges.view_id
            and compared.leaf_1 >= ranges.low_1
            and compared.leaf_1 <= ranges.high_1
            and compared.leaf_2 >= ranges.low_2
            and compared.leaf_2 <= ranges.high_2
    group by
        compared.view_id,
        compared.effort,
        ranges.query

),

query_errors as (

    select
        ranges.view_id,
        totals.effort,
        abs(
            coalesce(answers.released, 0) * totals.records / totals.share
            - coalesce(answers.original, 0) * totals.original_records
        )
        / (
            totals.original_records
            * greatest(coalesce(answers.original, 0), 0.001)
        ) as count_error,
        case
            when answers.original_mean is not null
                then coalesce(abs(answers.released_mean - answers.original_mean), 1)
        end as mean_error
    from ranges
    cross join totals
    left join answers
        on
            ranges.view_id = answers.view_id
            and ranges.query = answers.query
            and totals.effort = answers.effort

),

ranked as (

    select
        view_id,
        effort,
        count_error,
        count(count_error) over (partition by view_id, effort) as count_errors,
        row_number() over (
            partition by view_id, effort
            order by case when count_error is null then 1 else 0 end, count_error
        ) as count_error_rank,
        mean_error,
        count(mean_error) over (partition by view_id, effort) as mean_errors,
        row_number() over (
            partition by view_id, effort
            order by case when mean_error is null then 1 else 0 end, mean_error
        ) as mean_error_rank
    from query_errors

),

errors as (

    select
        view_id,
        effort,
        min(case when 100 * count_error_rank >= 50 * count_errors then count_error end)
            as count_error_median,
        min(case when 100 * count_error_rank >= 95 * count_errors then count_error end)
            as count_error_p95,
        min(case when 100 * mean_error_rank >= 50 * mean_errors then mean_error end)
            as mean_error_median,
        min(case when 100 * mean_error_rank >= 95 * mean_errors then mean_error end)
            as mean_error_p95
    from ranked
    group by
        view_id,
        effort

)

select
    totals.effort,
    'distance' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then distances.distance end as value
from totals
cross join views
left join distances
    on
        totals.effort = distances.effort
        and views.view_id = distances.view_id

union all

select
    totals.effort,
    'pmse' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then distances.pmse end as value
from totals
cross join views
left join distances
    on
        totals.effort = distances.effort
        and views.view_id = distances.view_id

union all

select
    totals.effort,
    'pmse_ratio' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then distances.pmse_ratio end as value
from totals
cross join views
left join distances
    on
        totals.effort = distances.effort
        and views.view_id = distances.view_id

union all

select
    totals.effort,
    'correlation_difference' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then coalesce(abs(correlations.released - correlations.original), 0) end as value
from totals
cross join views
left join correlations
    on
        totals.effort = correlations.effort
        and views.view_id = correlations.view_id
where views.other_attribute is not null

union all

select
    totals.effort,
    'count_error_median' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then errors.count_error_median end as value
from totals
cross join views
left join errors
    on
        totals.effort = errors.effort
        and views.view_id = errors.view_id
where views.is_queried

union all

select
    totals.effort,
    'count_error_p95' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then errors.count_error_p95 end as value
from totals
cross join views
left join errors
    on
        totals.effort = errors.effort
        and views.view_id = errors.view_id
where views.is_queried

union all

select
    totals.effort,
    'mean_error_median' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then errors.mean_error_median end as value
from totals
cross join views
left join errors
    on
        totals.effort = errors.effort
        and views.view_id = errors.view_id
where views.is_queried

union all

select
    totals.effort,
    'mean_error_p95' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then errors.mean_error_p95 end as value
from totals
cross join views
left join errors
    on
        totals.effort = errors.effort
        and views.view_id = errors.view_id
where views.is_queried
