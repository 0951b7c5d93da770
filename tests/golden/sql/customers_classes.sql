with

frequencies as not materialized (

    select * from "shop"."main"."customers_frequencies"

),

efforts as (
    select
        0 as effort,
        0 as level_1,
        0 as level_2,
        0 as level_3
    union all
    select
        1 as effort,
        2 as level_1,
        1 as level_2,
        0 as level_3
    union all
    select
        2 as effort,
        2 as level_1,
        2 as level_2,
        1 as level_3
    union all
    select
        3 as effort,
        3 as level_1,
        2 as level_2,
        1 as level_3

),

hierarchy_1 as (

    select
        leaf,
        min(label_2) as label_2,
        max(case when label_2 = '*' then 1 else share_2 end) as share_2,
        min(label_3) as label_3,
        max(case when label_3 = '*' then 1 else share_3 end) as share_3
    from (
        select
            lower_bound as leaf,
            cast(level_2 as TEXT) as label_2,
            cast(max(upper_bound) over (partition by level_2) - min(lower_bound) over (partition by level_2) as double)
            / cast(max(upper_bound) over () - min(lower_bound) over () as double) as share_2,
            cast(level_3 as TEXT) as label_3,
            cast(max(upper_bound) over (partition by level_3) - min(lower_bound) over (partition by level_3) as double)
            / cast(max(upper_bound) over () - min(lower_bound) over () as double) as share_3
        from "shop"."main"."customers_hierarchy_birth_date"
    ) as leaves
    group by leaf

),

found_1 as (

    select
        value,
        min(leaf) as leaf,
        cast(row_number() over (order by value) as integer) as number
    from (
        select
            "birth_date" as value,
            "birth_date_leaf" as leaf
        from frequencies
        where "birth_date" is not null
    ) as found
    group by value

),

codes_1 as (

    select
        found_1.value,
        cast(found_1.value as TEXT) as label_0,
        found_1.number,
        hierarchy_1.label_2,
        hierarchy_1.share_2,
        case
            when hierarchy_1.label_2 = '*' then 0
            else min(found_1.number) over (partition by hierarchy_1.label_2)
        end as code_2,
        hierarchy_1.label_3,
        hierarchy_1.share_3,
        case
            when hierarchy_1.label_3 = '*' then 0
            else min(found_1.number) over (partition by hierarchy_1.label_3)
        end as code_3
    from found_1
    left join hierarchy_1 on found_1.leaf = hierarchy_1.leaf

),

leaf_2 as (

    select cast(1 as double) / count(*) as share
    from "shop"."main"."customers_hierarchy_zip"

),

hierarchy_2 as (

    select
        leaf,
        min(label_1) as label_1,
        max(case when label_1 = '*' then 1 else share_1 end) as share_1,
        min(label_2) as label_2,
        max(case when label_2 = '*' then 1 else share_2 end) as share_2
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_1 as TEXT) as label_1,
            cast(count(*) over (partition by level_1) as double) / count(*) over () as share_1,
            cast(level_2 as TEXT) as label_2,
            cast(count(*) over (partition by level_2) as double) / count(*) over () as share_2
        from "shop"."main"."customers_hierarchy_zip"
    ) as leaves
    group by leaf

),

found_2 as (

    select
        value,
        min(leaf) as leaf,
        cast(row_number() over (order by value) as integer) as number
    from (
        select
            "zip" as value,
            "zip_leaf" as leaf
        from frequencies
        where "zip" is not null
    ) as found
    group by value

),

codes_2 as (

    select
        found_2.value,
        cast(found_2.value as TEXT) as label_0,
        found_2.number,
        hierarchy_2.label_1,
        hierarchy_2.share_1,
        case
            when hierarchy_2.label_1 = '*' then 0
            else min(found_2.number) over (partition by hierarchy_2.label_1)
        end as code_1,
        hierarchy_2.label_2,
        hierarchy_2.share_2,
        case
            when hierarchy_2.label_2 = '*' then 0
            else min(found_2.number) over (partition by hierarchy_2.label_2)
        end as code_2
    from found_2
    left join hierarchy_2 on found_2.leaf = hierarchy_2.leaf

),

leaf_3 as (

    select cast(1 as double) / count(*) as share
    from "shop"."main"."customers_hierarchy_gender"

),

hierarchy_3 as (

    select
        leaf,
        min(label_1) as label_1,
        max(case when label_1 = '*' then 1 else share_1 end) as share_1
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_1 as TEXT) as label_1,
            cast(count(*) over (partition by level_1) as double) / count(*) over () as share_1
        from "shop"."main"."customers_hierarchy_gender"
    ) as leaves
    group by leaf

),

found_3 as (

    select
        value,
        min(leaf) as leaf,
        cast(row_number() over (order by value) as integer) as number
    from (
        select
            "gender" as value,
            "gender_leaf" as leaf
        from frequencies
        where "gender" is not null
    ) as found
    group by value

),

codes_3 as (

    select
        found_3.value,
        cast(found_3.value as TEXT) as label_0,
        found_3.number,
        hierarchy_3.label_1,
        hierarchy_3.share_1,
        case
            when hierarchy_3.label_1 = '*' then 0
            else min(found_3.number) over (partition by hierarchy_3.label_1)
        end as code_1
    from found_3
    left join hierarchy_3 on found_3.leaf = hierarchy_3.leaf

),

coded as not materialized (

    select
        efforts.effort,
        frequencies."churned",
        frequencies."records",
        case
            when frequencies."birth_date" is null then 0
            when efforts.level_1 = 2 then codes_1.code_2
            when efforts.level_1 = 3 then codes_1.code_3
        end as dbt_anonymize_code_1,
        case
            when frequencies."zip" is null then 0
            when efforts.level_2 = 1 then codes_2.code_1
            when efforts.level_2 = 2 then codes_2.code_2
        end as dbt_anonymize_code_2,
        case
            when frequencies."gender" is null then 0
            when efforts.level_3 = 0 then codes_3.number
            when efforts.level_3 = 1 then codes_3.code_1
        end as dbt_anonymize_code_3
    from frequencies
    left join codes_1
        on frequencies."birth_date" = codes_1.value
    left join codes_2
        on frequencies."zip" = codes_2.value
    left join codes_3
        on frequencies."gender" = codes_3.value
    inner join efforts on efforts.effort in (1, 2, 3)

),

generalized as (

    select
        efforts.effort,
        frequencies."churned",
        frequencies."records",
        case
            when frequencies."birth_date" is null then 0
            when efforts.level_1 = 0 then codes_1.number
        end as dbt_anonymize_code_1,
        case
            when frequencies."zip" is null then 0
            when efforts.level_2 = 0 then codes_2.number
        end as dbt_anonymize_code_2,
        case
            when frequencies."gender" is null then 0
            when efforts.level_3 = 0 then codes_3.number
        end as dbt_anonymize_code_3
    from frequencies
    left join codes_1
        on frequencies."birth_date" = codes_1.value
    left join codes_2
        on frequencies."zip" = codes_2.value
    left join codes_3
        on frequencies."gender" = codes_3.value
    inner join efforts on efforts.effort in (0)
    union all
    select
        effort,
        "churned",
        cast(sum(records) as bigint) as records,
        dbt_anonymize_code_1,
        dbt_anonymize_code_2,
        dbt_anonymize_code_3
    from coded
    group by
        effort,
        "churned",
        dbt_anonymize_code_1,
        dbt_anonymize_code_2,
        dbt_anonymize_code_3

),

distribution_1 as (

    select
        value,
        subjects,
        row_number() over (order by case when value is null then 1 else 0 end, value) as position,
        cast(sum(subjects) over (
            order by case when value is null then 1 else 0 end, value rows between unbounded preceding and current row
        ) as bigint) as subjects_up_to
    from (
        select
            "churned" as value,
            cast(sum(records) as bigint) as subjects
        from frequencies
        group by "churned"
    ) as counted

),

total_1 as (

    select
        cast(coalesce(sum(subjects), 0) as bigint) as subjects,
        count(*) as number_of_values,
        cast(coalesce(sum(case when value is null then subjects end), 0) as bigint) as missing
    from distribution_1

),

sizes as (

    select
        "effort" as key_1,
        "dbt_anonymize_code_1" as key_2,
        "dbt_anonymize_code_2" as key_3,
        "dbt_anonymize_code_3" as key_4,
        max(records) as most_records,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from generalized
    group by
        "effort",
        "dbt_anonymize_code_1",
        "dbt_anonymize_code_2",
        "dbt_anonymize_code_3"

),

values_1 as (

    select
        "effort" as key_1,
        "dbt_anonymize_code_1" as key_2,
        "dbt_anonymize_code_2" as key_3,
        "dbt_anonymize_code_3" as key_4,
        "churned" as value,
        records as subjects
    from generalized

),

compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.key_3,
        found.key_4,
        found.value,
        cast(found.subjects as double) as subjects,
        cast(totals.class_size as double) as class_subjects,
        cast(totals.most_records as double) as most_subjects,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.subjects, 0) end as double
        ) as table_value_subjects,
        cast(whole.subjects as double) as table_subjects,
        whole.number_of_values
    from values_1 as found
    inner join sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2 and found.key_3 = totals.key_3 and found.key_4 = totals.key_4
    left join distribution_1 as distribution
        on found.value = distribution.value
    cross join total_1 as whole

),

measured_1 as (

    select
        key_1,
        key_2,
        key_3,
        key_4,
        cast(max(class_subjects) as bigint) as class_size,
        cast(max(class_subjects) as bigint) as records,
        cast(max(subjects) as bigint) as majority_records,
        sum(case when subjects = most_subjects then 1 else 0 end) = 1 as has_majority,
        cast(count(*) as bigint) as distinct_l,
        exp(ln(max(class_subjects)) - sum(subjects * ln(subjects)) / max(class_subjects)) as entropy_l,
        max(subjects) / max(class_size) as highest_share,
        sum(case when subjects * table_subjects > class_subjects * table_value_subjects then subjects * table_subjects - class_subjects * table_value_subjects else 0 end) / max(class_subjects * table_subjects) as t,
        case when min(table_value_subjects) > 0 then max((subjects * table_subjects - class_subjects * table_value_subjects) / (class_subjects * table_value_subjects)) end as beta,
        case when min(table_value_subjects) > 0 and count(*) = max(number_of_values) then max(abs(ln(subjects * table_subjects / (class_subjects * table_value_subjects)))) / ln(2) end as delta
    from compared_1
    group by
        key_1,
        key_2,
        key_3,
        key_4

),

measures as (

    select
        sizes.key_1 as "effort",
        sizes.key_2 as "dbt_anonymize_code_1",
        sizes.key_3 as "dbt_anonymize_code_2",
        sizes.key_4 as "dbt_anonymize_code_3",
        sizes.majority_records as "majority_records",
        sizes.has_majority as "has_majority",
        sizes.class_size,
        sizes.records,
        sizes.distinct_l as "churned_distinct_l",
        sizes.entropy_l as "churned_entropy_l",
        sizes.highest_share as "churned_highest_share",
        sizes.t as "churned_t",
        sizes.beta as "churned_beta",
        sizes.delta as "churned_delta"
    from measured_1 as sizes

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

judged as (

    select
        *,
        is_violating as is_suppressed
    from classes

),

labeled as (

    select
        judged.*,
        case
            when codes_1.value is null then '*'
            when efforts.level_1 = 0 then codes_1.label_0
            when efforts.level_1 = 2 and codes_1.label_2 is not null
                then codes_1.label_2
            when efforts.level_1 = 3 and codes_1.label_3 is not null
                then codes_1.label_3
            else error('customers_classes: a value of birth_date is not in the hierarchy customers_hierarchy_birth_date. Build again from the microdata on.')
        end as "birth_date",
        case
            when codes_1.value is null then 1
            when efforts.level_1 = 0 then 0
            when efforts.level_1 = 2 then codes_1.share_2
            when efforts.level_1 = 3 then codes_1.share_3
        end as "birth_date_share",
        efforts.level_1 as "birth_date_level",
        case
            when codes_2.value is null then '*'
            when efforts.level_2 = 0 then codes_2.label_0
            when efforts.level_2 = 1 and codes_2.label_1 is not null
                then codes_2.label_1
            when efforts.level_2 = 2 and codes_2.label_2 is not null
                then codes_2.label_2
            else error('customers_classes: a value of zip is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
        end as "zip",
        case
            when codes_2.value is null then 1
            when efforts.level_2 = 0 then leaf_2.share
            when efforts.level_2 = 1 then codes_2.share_1
            when efforts.level_2 = 2 then codes_2.share_2
        end as "zip_share",
        efforts.level_2 as "zip_level",
        case
            when codes_3.value is null then '*'
            when efforts.level_3 = 0 then codes_3.label_0
            when efforts.level_3 = 1 and codes_3.label_1 is not null
                then codes_3.label_1
            else error('customers_classes: a value of gender is not in the hierarchy customers_hierarchy_gender. Build again from the microdata on.')
        end as "gender",
        case
            when codes_3.value is null then 1
            when efforts.level_3 = 0 then leaf_3.share
            when efforts.level_3 = 1 then codes_3.share_1
        end as "gender_share",
        efforts.level_3 as "gender_level"
    from judged
    inner join efforts on judged.effort = efforts.effort
    left join codes_1
        on judged.dbt_anonymize_code_1 = codes_1.number
    left join codes_2
        on judged.dbt_anonymize_code_2 = codes_2.number
    cross join leaf_2
    left join codes_3
        on judged.dbt_anonymize_code_3 = codes_3.number
    cross join leaf_3

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
    found.effort,
    found.class_size,
    found.records,
    cast(null as bigint) as population_size,
    found."majority_records",
    found."has_majority",
    found.is_suppressed as is_violating,
    found.effort > 0
    and found.is_suppressed
    and limits.violating_records <= limits.may_be_suppressed as is_suppressed,
    found."birth_date",
    found."birth_date_share",
    found."birth_date_level",
    found."zip",
    found."zip_share",
    found."zip_level",
    found."gender",
    found."gender_share",
    found."gender_level",
    found."churned_distinct_l",
    found."churned_entropy_l",
    found."churned_highest_share",
    found."churned_t",
    found."churned_beta",
    found."churned_delta",
    concat('n', cast(length(found."birth_date") as TEXT), ':', found."birth_date", '|t', cast(length(found."zip") as TEXT), ':', found."zip", '|t', cast(length(found."gender") as TEXT), ':', found."gender") as equivalence_class
from labeled as found
inner join limits on found.effort = limits.effort
