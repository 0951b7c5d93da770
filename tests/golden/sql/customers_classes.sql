with

frequencies as (

    select * from "shop"."main"."customers_frequencies"

),

table_distribution_1 as (

    select
        value,
        people,
        row_number() over (order by case when value is null then 1 else 0 end, value) as position,
        cast(sum(people) over (
            order by case when value is null then 1 else 0 end, value rows between unbounded preceding and current row
        ) as bigint) as people_up_to
    from (
        select
            "churned" as value,
            cast(sum(records) as bigint) as people
        from frequencies
        group by "churned"
    ) as counted

),

table_total_1 as (

    select
        cast(coalesce(sum(people), 0) as bigint) as people,
        count(*) as number_of_values,
        cast(coalesce(sum(case when value is null then people end), 0) as bigint) as missing
    from table_distribution_1

),

effort_0_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

effort_0_range_2 as (

    select cast(1 as double) / count(*) as smallest_share
    from "shop"."main"."customers_hierarchy_zip"

),

effort_0_range_3 as (

    select cast(1 as double) / count(*) as smallest_share
    from "shop"."main"."customers_hierarchy_gender"

),

effort_0_generalized as not materialized (

    select
        frequencies."churned",
        frequencies."records",
        coalesce(cast(frequencies."birth_date" as TEXT), '*') as "birth_date",
        coalesce(frequencies."birth_date", effort_0_range_1.range_lower) as "birth_date_lower",
        coalesce(frequencies."birth_date", effort_0_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."birth_date" is null then 1
            else 0
        end as "birth_date_share",
        coalesce(cast(frequencies."zip" as TEXT), '*') as "zip",
        case
            when frequencies."zip" is null then 1
            else effort_0_range_2.smallest_share
        end as "zip_share",
        coalesce(cast(frequencies."gender" as TEXT), '*') as "gender",
        case
            when frequencies."gender" is null then 1
            else effort_0_range_3.smallest_share
        end as "gender_share"
    from frequencies
    cross join effort_0_range_1
    cross join effort_0_range_2
    cross join effort_0_range_3

),

effort_0_sizes as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        max("birth_date_share") as further_1,
        cast(0 as integer) as further_2,
        max("zip_share") as further_3,
        cast(0 as integer) as further_4,
        max("gender_share") as further_5,
        cast(0 as integer) as further_6,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from effort_0_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_0_values_1 as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        "churned" as value,
        cast(sum(records) as bigint) as people
    from effort_0_generalized
    group by
        "birth_date",
        "zip",
        "gender",
        "churned"

),

effort_0_compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.key_3,
        found.value,
        cast(found.people as double) as people,
        cast(totals.class_size as double) as class_people,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.people, 0) end as double
        ) as table_value_people,
        cast(whole.people as double) as table_people,
        whole.number_of_values
    from effort_0_values_1 as found
    inner join effort_0_sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2 and found.key_3 = totals.key_3
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

effort_0_measured_1 as (

    select
        key_1,
        key_2,
        key_3,
        cast(count(*) as bigint) as distinct_l,
        exp(ln(max(class_people)) - sum(people * ln(people)) / max(class_people)) as entropy_l,
        max(people) / max(class_size) as highest_share,
        sum(case when people * table_people > class_people * table_value_people then people * table_people - class_people * table_value_people else 0 end) / max(class_people * table_people) as t,
        case when min(table_value_people) > 0 then max((people * table_people - class_people * table_value_people) / (class_people * table_value_people)) end as beta,
        case when min(table_value_people) > 0 and count(*) = max(number_of_values) then max(abs(ln(people * table_people / (class_people * table_value_people)))) / ln(2) end as delta
    from effort_0_compared_1
    group by
        key_1,
        key_2,
        key_3

),

effort_0_measures as (

    select
        sizes.key_1 as "birth_date",
        sizes.key_2 as "zip",
        sizes.key_3 as "gender",
        sizes.further_1 as "birth_date_share",
        sizes.further_2 as "birth_date_level",
        sizes.further_3 as "zip_share",
        sizes.further_4 as "zip_level",
        sizes.further_5 as "gender_share",
        sizes.further_6 as "gender_level",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "churned_distinct_l",
        measured_1.entropy_l as "churned_entropy_l",
        measured_1.highest_share as "churned_highest_share",
        measured_1.t as "churned_t",
        measured_1.beta as "churned_beta",
        measured_1.delta as "churned_delta"
    from effort_0_sizes as sizes
    inner join effort_0_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2 and sizes.key_3 = measured_1.key_3

),

effort_0_classes as (

    select
        *,
        coalesce(
            class_size < 4,
            false
        ) as is_violating
    from effort_0_measures

),

effort_0_majorities as (

    select
        "birth_date",
        "zip",
        "gender",
        cast(max(records) as bigint) as majority_records,
        coalesce(max(records) = max(case when number_of_values = 1 then records end), false) as has_majority
    from (
        select
            "birth_date",
            "zip",
            "gender",
            records,
            count(*) as number_of_values
        from (
            select
                "birth_date",
                "zip",
                "gender",
                sum(records) as records
            from effort_0_generalized
            group by
                "birth_date",
                "zip",
                "gender",
                "churned"
        ) as counted
        group by
            "birth_date",
            "zip",
            "gender",
            records
    ) as tied
    group by
        "birth_date",
        "zip",
        "gender"

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
        max(label_upper) as label_upper,
        max(
            cast(label_upper - label_lower as double)
            / cast(whole_upper - whole_lower as double)
        ) as share
    from (
        select
            lower_bound as leaf,
            cast(level_2 as TEXT) as label,
            min(lower_bound) over () as whole_lower,
            max(upper_bound) over () as whole_upper,
            min(lower_bound) over (partition by level_2) as label_lower,
            max(upper_bound) over (partition by level_2) as label_upper
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

effort_1_hierarchy_2 as (

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
        from "shop"."main"."customers_hierarchy_zip"
    ) as leaves
    group by leaf

),

effort_1_range_3 as (

    select cast(1 as double) / count(*) as smallest_share
    from "shop"."main"."customers_hierarchy_gender"

),

effort_1_generalized as not materialized (

    select
        frequencies."churned",
        frequencies."records",
        case
            when frequencies."birth_date" is null then '*'
            when effort_1_hierarchy_1.label is null
                then error('customers_classes: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else effort_1_hierarchy_1.label
        end as "birth_date",
        coalesce(effort_1_hierarchy_1.label_lower, effort_1_range_1.range_lower) as "birth_date_lower",
        coalesce(effort_1_hierarchy_1.label_upper, effort_1_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."birth_date" is null or effort_1_hierarchy_1.label = '*' then 1
            else effort_1_hierarchy_1.share
        end as "birth_date_share",
        case
            when frequencies."zip" is null then '*'
            when effort_1_hierarchy_2.label is null
                then error('customers_classes: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else effort_1_hierarchy_2.label
        end as "zip",
        case
            when frequencies."zip" is null or effort_1_hierarchy_2.label = '*' then 1
            else effort_1_hierarchy_2.share
        end as "zip_share",
        coalesce(cast(frequencies."gender" as TEXT), '*') as "gender",
        case
            when frequencies."gender" is null then 1
            else effort_1_range_3.smallest_share
        end as "gender_share"
    from frequencies
    cross join effort_1_range_1
    left join effort_1_hierarchy_1
        on frequencies."birth_date_leaf" = effort_1_hierarchy_1.leaf
    left join effort_1_hierarchy_2
        on frequencies."zip_leaf" = effort_1_hierarchy_2.leaf
    cross join effort_1_range_3

),

effort_1_sizes as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        max("birth_date_share") as further_1,
        cast(2 as integer) as further_2,
        max("zip_share") as further_3,
        cast(1 as integer) as further_4,
        max("gender_share") as further_5,
        cast(0 as integer) as further_6,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from effort_1_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_1_values_1 as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        "churned" as value,
        cast(sum(records) as bigint) as people
    from effort_1_generalized
    group by
        "birth_date",
        "zip",
        "gender",
        "churned"

),

effort_1_compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.key_3,
        found.value,
        cast(found.people as double) as people,
        cast(totals.class_size as double) as class_people,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.people, 0) end as double
        ) as table_value_people,
        cast(whole.people as double) as table_people,
        whole.number_of_values
    from effort_1_values_1 as found
    inner join effort_1_sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2 and found.key_3 = totals.key_3
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

effort_1_measured_1 as (

    select
        key_1,
        key_2,
        key_3,
        cast(count(*) as bigint) as distinct_l,
        exp(ln(max(class_people)) - sum(people * ln(people)) / max(class_people)) as entropy_l,
        max(people) / max(class_size) as highest_share,
        sum(case when people * table_people > class_people * table_value_people then people * table_people - class_people * table_value_people else 0 end) / max(class_people * table_people) as t,
        case when min(table_value_people) > 0 then max((people * table_people - class_people * table_value_people) / (class_people * table_value_people)) end as beta,
        case when min(table_value_people) > 0 and count(*) = max(number_of_values) then max(abs(ln(people * table_people / (class_people * table_value_people)))) / ln(2) end as delta
    from effort_1_compared_1
    group by
        key_1,
        key_2,
        key_3

),

effort_1_measures as (

    select
        sizes.key_1 as "birth_date",
        sizes.key_2 as "zip",
        sizes.key_3 as "gender",
        sizes.further_1 as "birth_date_share",
        sizes.further_2 as "birth_date_level",
        sizes.further_3 as "zip_share",
        sizes.further_4 as "zip_level",
        sizes.further_5 as "gender_share",
        sizes.further_6 as "gender_level",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "churned_distinct_l",
        measured_1.entropy_l as "churned_entropy_l",
        measured_1.highest_share as "churned_highest_share",
        measured_1.t as "churned_t",
        measured_1.beta as "churned_beta",
        measured_1.delta as "churned_delta"
    from effort_1_sizes as sizes
    inner join effort_1_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2 and sizes.key_3 = measured_1.key_3

),

effort_1_classes as (

    select
        *,
        coalesce(
            class_size < 4,
            false
        ) as is_violating
    from effort_1_measures

),

effort_1_majorities as (

    select
        "birth_date",
        "zip",
        "gender",
        cast(max(records) as bigint) as majority_records,
        coalesce(max(records) = max(case when number_of_values = 1 then records end), false) as has_majority
    from (
        select
            "birth_date",
            "zip",
            "gender",
            records,
            count(*) as number_of_values
        from (
            select
                "birth_date",
                "zip",
                "gender",
                sum(records) as records
            from effort_1_generalized
            group by
                "birth_date",
                "zip",
                "gender",
                "churned"
        ) as counted
        group by
            "birth_date",
            "zip",
            "gender",
            records
    ) as tied
    group by
        "birth_date",
        "zip",
        "gender"

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
        max(label_upper) as label_upper,
        max(
            cast(label_upper - label_lower as double)
            / cast(whole_upper - whole_lower as double)
        ) as share
    from (
        select
            lower_bound as leaf,
            cast(level_2 as TEXT) as label,
            min(lower_bound) over () as whole_lower,
            max(upper_bound) over () as whole_upper,
            min(lower_bound) over (partition by level_2) as label_lower,
            max(upper_bound) over (partition by level_2) as label_upper
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

effort_2_hierarchy_2 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_2 as TEXT) as label,
            cast(count(*) over (partition by level_2) as double)
            / count(*) over () as share
        from "shop"."main"."customers_hierarchy_zip"
    ) as leaves
    group by leaf

),

effort_2_hierarchy_3 as (

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
        from "shop"."main"."customers_hierarchy_gender"
    ) as leaves
    group by leaf

),

effort_2_generalized as not materialized (

    select
        frequencies."churned",
        frequencies."records",
        case
            when frequencies."birth_date" is null then '*'
            when effort_2_hierarchy_1.label is null
                then error('customers_classes: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else effort_2_hierarchy_1.label
        end as "birth_date",
        coalesce(effort_2_hierarchy_1.label_lower, effort_2_range_1.range_lower) as "birth_date_lower",
        coalesce(effort_2_hierarchy_1.label_upper, effort_2_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."birth_date" is null or effort_2_hierarchy_1.label = '*' then 1
            else effort_2_hierarchy_1.share
        end as "birth_date_share",
        case
            when frequencies."zip" is null then '*'
            when effort_2_hierarchy_2.label is null
                then error('customers_classes: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else effort_2_hierarchy_2.label
        end as "zip",
        case
            when frequencies."zip" is null or effort_2_hierarchy_2.label = '*' then 1
            else effort_2_hierarchy_2.share
        end as "zip_share",
        case
            when frequencies."gender" is null then '*'
            when effort_2_hierarchy_3.label is null
                then error('customers_classes: a value of gender is not in the hierarchy customers_hierarchy_gender. Build again from the microdata on.')
            else effort_2_hierarchy_3.label
        end as "gender",
        case
            when frequencies."gender" is null or effort_2_hierarchy_3.label = '*' then 1
            else effort_2_hierarchy_3.share
        end as "gender_share"
    from frequencies
    cross join effort_2_range_1
    left join effort_2_hierarchy_1
        on frequencies."birth_date_leaf" = effort_2_hierarchy_1.leaf
    left join effort_2_hierarchy_2
        on frequencies."zip_leaf" = effort_2_hierarchy_2.leaf
    left join effort_2_hierarchy_3
        on frequencies."gender_leaf" = effort_2_hierarchy_3.leaf

),

effort_2_sizes as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        max("birth_date_share") as further_1,
        cast(2 as integer) as further_2,
        max("zip_share") as further_3,
        cast(2 as integer) as further_4,
        max("gender_share") as further_5,
        cast(1 as integer) as further_6,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from effort_2_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_2_values_1 as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        "churned" as value,
        cast(sum(records) as bigint) as people
    from effort_2_generalized
    group by
        "birth_date",
        "zip",
        "gender",
        "churned"

),

effort_2_compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.key_3,
        found.value,
        cast(found.people as double) as people,
        cast(totals.class_size as double) as class_people,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.people, 0) end as double
        ) as table_value_people,
        cast(whole.people as double) as table_people,
        whole.number_of_values
    from effort_2_values_1 as found
    inner join effort_2_sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2 and found.key_3 = totals.key_3
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

effort_2_measured_1 as (

    select
        key_1,
        key_2,
        key_3,
        cast(count(*) as bigint) as distinct_l,
        exp(ln(max(class_people)) - sum(people * ln(people)) / max(class_people)) as entropy_l,
        max(people) / max(class_size) as highest_share,
        sum(case when people * table_people > class_people * table_value_people then people * table_people - class_people * table_value_people else 0 end) / max(class_people * table_people) as t,
        case when min(table_value_people) > 0 then max((people * table_people - class_people * table_value_people) / (class_people * table_value_people)) end as beta,
        case when min(table_value_people) > 0 and count(*) = max(number_of_values) then max(abs(ln(people * table_people / (class_people * table_value_people)))) / ln(2) end as delta
    from effort_2_compared_1
    group by
        key_1,
        key_2,
        key_3

),

effort_2_measures as (

    select
        sizes.key_1 as "birth_date",
        sizes.key_2 as "zip",
        sizes.key_3 as "gender",
        sizes.further_1 as "birth_date_share",
        sizes.further_2 as "birth_date_level",
        sizes.further_3 as "zip_share",
        sizes.further_4 as "zip_level",
        sizes.further_5 as "gender_share",
        sizes.further_6 as "gender_level",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "churned_distinct_l",
        measured_1.entropy_l as "churned_entropy_l",
        measured_1.highest_share as "churned_highest_share",
        measured_1.t as "churned_t",
        measured_1.beta as "churned_beta",
        measured_1.delta as "churned_delta"
    from effort_2_sizes as sizes
    inner join effort_2_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2 and sizes.key_3 = measured_1.key_3

),

effort_2_classes as (

    select
        *,
        coalesce(
            class_size < 4,
            false
        ) as is_violating
    from effort_2_measures

),

effort_2_majorities as (

    select
        "birth_date",
        "zip",
        "gender",
        cast(max(records) as bigint) as majority_records,
        coalesce(max(records) = max(case when number_of_values = 1 then records end), false) as has_majority
    from (
        select
            "birth_date",
            "zip",
            "gender",
            records,
            count(*) as number_of_values
        from (
            select
                "birth_date",
                "zip",
                "gender",
                sum(records) as records
            from effort_2_generalized
            group by
                "birth_date",
                "zip",
                "gender",
                "churned"
        ) as counted
        group by
            "birth_date",
            "zip",
            "gender",
            records
    ) as tied
    group by
        "birth_date",
        "zip",
        "gender"

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
        max(label_upper) as label_upper,
        max(
            cast(label_upper - label_lower as double)
            / cast(whole_upper - whole_lower as double)
        ) as share
    from (
        select
            lower_bound as leaf,
            cast(level_3 as TEXT) as label,
            min(lower_bound) over () as whole_lower,
            max(upper_bound) over () as whole_upper,
            min(lower_bound) over (partition by level_3) as label_lower,
            max(upper_bound) over (partition by level_3) as label_upper
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

effort_3_hierarchy_2 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_2 as TEXT) as label,
            cast(count(*) over (partition by level_2) as double)
            / count(*) over () as share
        from "shop"."main"."customers_hierarchy_zip"
    ) as leaves
    group by leaf

),

effort_3_hierarchy_3 as (

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
        from "shop"."main"."customers_hierarchy_gender"
    ) as leaves
    group by leaf

),

effort_3_generalized as not materialized (

    select
        frequencies."churned",
        frequencies."records",
        case
            when frequencies."birth_date" is null then '*'
            when effort_3_hierarchy_1.label is null
                then error('customers_classes: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
            else effort_3_hierarchy_1.label
        end as "birth_date",
        coalesce(effort_3_hierarchy_1.label_lower, effort_3_range_1.range_lower) as "birth_date_lower",
        coalesce(effort_3_hierarchy_1.label_upper, effort_3_range_1.range_upper) as "birth_date_upper",
        case
            when frequencies."birth_date" is null or effort_3_hierarchy_1.label = '*' then 1
            else effort_3_hierarchy_1.share
        end as "birth_date_share",
        case
            when frequencies."zip" is null then '*'
            when effort_3_hierarchy_2.label is null
                then error('customers_classes: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else effort_3_hierarchy_2.label
        end as "zip",
        case
            when frequencies."zip" is null or effort_3_hierarchy_2.label = '*' then 1
            else effort_3_hierarchy_2.share
        end as "zip_share",
        case
            when frequencies."gender" is null then '*'
            when effort_3_hierarchy_3.label is null
                then error('customers_classes: a value of gender is not in the hierarchy customers_hierarchy_gender. Build again from the microdata on.')
            else effort_3_hierarchy_3.label
        end as "gender",
        case
            when frequencies."gender" is null or effort_3_hierarchy_3.label = '*' then 1
            else effort_3_hierarchy_3.share
        end as "gender_share"
    from frequencies
    cross join effort_3_range_1
    left join effort_3_hierarchy_1
        on frequencies."birth_date_leaf" = effort_3_hierarchy_1.leaf
    left join effort_3_hierarchy_2
        on frequencies."zip_leaf" = effort_3_hierarchy_2.leaf
    left join effort_3_hierarchy_3
        on frequencies."gender_leaf" = effort_3_hierarchy_3.leaf

),

effort_3_sizes as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        max("birth_date_share") as further_1,
        cast(3 as integer) as further_2,
        max("zip_share") as further_3,
        cast(2 as integer) as further_4,
        max("gender_share") as further_5,
        cast(1 as integer) as further_6,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from effort_3_generalized
    group by
        "birth_date",
        "zip",
        "gender"

),

effort_3_values_1 as (

    select
        "birth_date" as key_1,
        "zip" as key_2,
        "gender" as key_3,
        "churned" as value,
        cast(sum(records) as bigint) as people
    from effort_3_generalized
    group by
        "birth_date",
        "zip",
        "gender",
        "churned"

),

effort_3_compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.key_3,
        found.value,
        cast(found.people as double) as people,
        cast(totals.class_size as double) as class_people,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.people, 0) end as double
        ) as table_value_people,
        cast(whole.people as double) as table_people,
        whole.number_of_values
    from effort_3_values_1 as found
    inner join effort_3_sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2 and found.key_3 = totals.key_3
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

effort_3_measured_1 as (

    select
        key_1,
        key_2,
        key_3,
        cast(count(*) as bigint) as distinct_l,
        exp(ln(max(class_people)) - sum(people * ln(people)) / max(class_people)) as entropy_l,
        max(people) / max(class_size) as highest_share,
        sum(case when people * table_people > class_people * table_value_people then people * table_people - class_people * table_value_people else 0 end) / max(class_people * table_people) as t,
        case when min(table_value_people) > 0 then max((people * table_people - class_people * table_value_people) / (class_people * table_value_people)) end as beta,
        case when min(table_value_people) > 0 and count(*) = max(number_of_values) then max(abs(ln(people * table_people / (class_people * table_value_people)))) / ln(2) end as delta
    from effort_3_compared_1
    group by
        key_1,
        key_2,
        key_3

),

effort_3_measures as (

    select
        sizes.key_1 as "birth_date",
        sizes.key_2 as "zip",
        sizes.key_3 as "gender",
        sizes.further_1 as "birth_date_share",
        sizes.further_2 as "birth_date_level",
        sizes.further_3 as "zip_share",
        sizes.further_4 as "zip_level",
        sizes.further_5 as "gender_share",
        sizes.further_6 as "gender_level",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "churned_distinct_l",
        measured_1.entropy_l as "churned_entropy_l",
        measured_1.highest_share as "churned_highest_share",
        measured_1.t as "churned_t",
        measured_1.beta as "churned_beta",
        measured_1.delta as "churned_delta"
    from effort_3_sizes as sizes
    inner join effort_3_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2 and sizes.key_3 = measured_1.key_3

),

effort_3_classes as (

    select
        *,
        coalesce(
            class_size < 4,
            false
        ) as is_violating
    from effort_3_measures

),

effort_3_majorities as (

    select
        "birth_date",
        "zip",
        "gender",
        cast(max(records) as bigint) as majority_records,
        coalesce(max(records) = max(case when number_of_values = 1 then records end), false) as has_majority
    from (
        select
            "birth_date",
            "zip",
            "gender",
            records,
            count(*) as number_of_values
        from (
            select
                "birth_date",
                "zip",
                "gender",
                sum(records) as records
            from effort_3_generalized
            group by
                "birth_date",
                "zip",
                "gender",
                "churned"
        ) as counted
        group by
            "birth_date",
            "zip",
            "gender",
            records
    ) as tied
    group by
        "birth_date",
        "zip",
        "gender"

),

classes as (
    select
        0 as effort,
        classes."birth_date",
        classes."birth_date_share",
        classes."birth_date_level",
        classes."zip",
        classes."zip_share",
        classes."zip_level",
        classes."gender",
        classes."gender_share",
        classes."gender_level",
        'n' || cast(length(classes."birth_date") as TEXT) || ':' || classes."birth_date" || '|t' || cast(length(classes."zip") as TEXT) || ':' || classes."zip" || '|t' || cast(length(classes."gender") as TEXT) || ':' || classes."gender" as equivalence_class,
        classes.class_size,
        classes.records,
        cast(null as bigint) as population_size,
        majorities.majority_records,
        majorities.has_majority,
        classes."churned_distinct_l",
        classes."churned_entropy_l",
        classes."churned_highest_share",
        classes."churned_t",
        classes."churned_beta",
        classes."churned_delta",
        classes.is_violating
    from effort_0_classes as classes
    inner join effort_0_majorities as majorities
        on
            classes."birth_date" = majorities."birth_date"
            and classes."zip" = majorities."zip"
            and classes."gender" = majorities."gender"
    union all
    select
        1 as effort,
        classes."birth_date",
        classes."birth_date_share",
        classes."birth_date_level",
        classes."zip",
        classes."zip_share",
        classes."zip_level",
        classes."gender",
        classes."gender_share",
        classes."gender_level",
        'n' || cast(length(classes."birth_date") as TEXT) || ':' || classes."birth_date" || '|t' || cast(length(classes."zip") as TEXT) || ':' || classes."zip" || '|t' || cast(length(classes."gender") as TEXT) || ':' || classes."gender" as equivalence_class,
        classes.class_size,
        classes.records,
        cast(null as bigint) as population_size,
        majorities.majority_records,
        majorities.has_majority,
        classes."churned_distinct_l",
        classes."churned_entropy_l",
        classes."churned_highest_share",
        classes."churned_t",
        classes."churned_beta",
        classes."churned_delta",
        classes.is_violating
    from effort_1_classes as classes
    inner join effort_1_majorities as majorities
        on
            classes."birth_date" = majorities."birth_date"
            and classes."zip" = majorities."zip"
            and classes."gender" = majorities."gender"
    union all
    select
        2 as effort,
        classes."birth_date",
        classes."birth_date_share",
        classes."birth_date_level",
        classes."zip",
        classes."zip_share",
        classes."zip_level",
        classes."gender",
        classes."gender_share",
        classes."gender_level",
        'n' || cast(length(classes."birth_date") as TEXT) || ':' || classes."birth_date" || '|t' || cast(length(classes."zip") as TEXT) || ':' || classes."zip" || '|t' || cast(length(classes."gender") as TEXT) || ':' || classes."gender" as equivalence_class,
        classes.class_size,
        classes.records,
        cast(null as bigint) as population_size,
        majorities.majority_records,
        majorities.has_majority,
        classes."churned_distinct_l",
        classes."churned_entropy_l",
        classes."churned_highest_share",
        classes."churned_t",
        classes."churned_beta",
        classes."churned_delta",
        classes.is_violating
    from effort_2_classes as classes
    inner join effort_2_majorities as majorities
        on
            classes."birth_date" = majorities."birth_date"
            and classes."zip" = majorities."zip"
            and classes."gender" = majorities."gender"
    union all
    select
        3 as effort,
        classes."birth_date",
        classes."birth_date_share",
        classes."birth_date_level",
        classes."zip",
        classes."zip_share",
        classes."zip_level",
        classes."gender",
        classes."gender_share",
        classes."gender_level",
        'n' || cast(length(classes."birth_date") as TEXT) || ':' || classes."birth_date" || '|t' || cast(length(classes."zip") as TEXT) || ':' || classes."zip" || '|t' || cast(length(classes."gender") as TEXT) || ':' || classes."gender" as equivalence_class,
        classes.class_size,
        classes.records,
        cast(null as bigint) as population_size,
        majorities.majority_records,
        majorities.has_majority,
        classes."churned_distinct_l",
        classes."churned_entropy_l",
        classes."churned_highest_share",
        classes."churned_t",
        classes."churned_beta",
        classes."churned_delta",
        classes.is_violating
    from effort_3_classes as classes
    inner join effort_3_majorities as majorities
        on
            classes."birth_date" = majorities."birth_date"
            and classes."zip" = majorities."zip"
            and classes."gender" = majorities."gender"

),

judged as (

    select
        *,
        is_violating as is_suppressed
    from classes

),

limits as (

    select
        effort,
        floor(0.1 * sum(records)) as may_be_suppressed,
        sum(case when is_suppressed then records else 0 end) as violating_records
    from judged
    group by effort

)

select
    judged.effort,
    judged."birth_date",
    judged."birth_date_share",
    judged."birth_date_level",
    judged."zip",
    judged."zip_share",
    judged."zip_level",
    judged."gender",
    judged."gender_share",
    judged."gender_level",
    judged.equivalence_class,
    judged.class_size,
    judged.records,
    judged.population_size,
    judged.majority_records,
    judged.has_majority,
    judged."churned_distinct_l",
    judged."churned_entropy_l",
    judged."churned_highest_share",
    judged."churned_t",
    judged."churned_beta",
    judged."churned_delta",
    judged.is_suppressed as is_violating,
    judged.effort > 0 and judged.is_suppressed and limits.violating_records <= limits.may_be_suppressed as is_suppressed
from judged
inner join limits on judged.effort = limits.effort
