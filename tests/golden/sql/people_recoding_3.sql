with

rest_1 as (

    select * from "w"."main"."people_microdata"

),

whole_everybody as (

    select cast(coalesce(count(distinct subject), 0) as bigint) as subjects
    from rest_1

),

whole_distribution_1 as (

    select
        value,
        subjects,
        row_number() over (order by case when value is null then 1 else 0 end, value) as position,
        cast(sum(subjects) over (
            order by case when value is null then 1 else 0 end, value rows between unbounded preceding and current row
        ) as bigint) as subjects_up_to
    from (
        select
            "illness" as value,
            cast(count(distinct subject) as bigint) as subjects
        from rest_1
        group by "illness"
    ) as counted

),

whole_total_1 as (

    select
        cast(coalesce(sum(subjects), 0) as bigint) as subjects,
        count(*) as number_of_values,
        cast(coalesce(sum(case when value is null then subjects end), 0) as bigint) as missing
    from whole_distribution_1

),

whole_tree_1 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as level_1
    from "w"."main"."tree_illness"
    group by cast(value as TEXT)

),

whole_labels_1 as (

    select
        distribution.value,
        distribution.subjects,
        case
            when distribution.value is null then '*'
            when tree.level_1 is null
                then error('people_recoding_3: a value of illness is not in the hierarchy tree_illness. Extend it, or correct the data.')
            else tree.level_1
        end as level_1
    from whole_distribution_1 as distribution
    left join whole_tree_1 as tree
        on cast(distribution.value as TEXT) = tree.leaf

),

whole_branches_1 as (
    select
        1 as level,
        level_1 as label,
        cast(sum(subjects) as bigint) as subjects
    from whole_labels_1
    group by level_1

),

round_1_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "w"."main"."tree_age"

),

round_1_hierarchy_1 as (

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
        from "w"."main"."tree_age"
    ) as leaves
    group by leaf

),

round_1_range_2 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "w"."main"."tree_day"

),

round_1_hierarchy_2 as (

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
        from "w"."main"."tree_day"
    ) as leaves
    group by leaf

),

round_1_hierarchy_3 as (

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
        from "w"."main"."tree_city"
    ) as leaves
    group by leaf

),

round_1_hierarchy_4 as (

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
        from "w"."main"."tree_job"
    ) as leaves
    group by leaf

),

round_1_generalized as not materialized (

    select
        rest_1."person_number",
        rest_1."illness",
        rest_1."subject",
        case
            when rest_1."age" is null then '*'
            when round_1_hierarchy_1.label is null
                then error('people_recoding_3: a value of age is not in the hierarchy tree_age. Build again from the microdata on.')
            else round_1_hierarchy_1.label
        end as "age",
        coalesce(round_1_hierarchy_1.label_lower, round_1_range_1.range_lower) as "age_lower",
        coalesce(round_1_hierarchy_1.label_upper, round_1_range_1.range_upper) as "age_upper",
        case
            when rest_1."age" is null or round_1_hierarchy_1.label = '*' then 1
            else round_1_hierarchy_1.share
        end as "age_share",
        case
            when rest_1."birth_day" is null then '*'
            when round_1_hierarchy_2.label is null
                then error('people_recoding_3: a value of birth_day is not in the hierarchy tree_day. Build again from the microdata on.')
            else round_1_hierarchy_2.label
        end as "birth_day",
        coalesce(round_1_hierarchy_2.label_lower, round_1_range_2.range_lower) as "birth_day_lower",
        coalesce(round_1_hierarchy_2.label_upper, round_1_range_2.range_upper) as "birth_day_upper",
        case
            when rest_1."birth_day" is null or round_1_hierarchy_2.label = '*' then 1
            else round_1_hierarchy_2.share
        end as "birth_day_share",
        case
            when rest_1."city" is null then '*'
            when round_1_hierarchy_3.label is null
                then error('people_recoding_3: a value of city is not in the hierarchy tree_city. Build again from the microdata on.')
            else round_1_hierarchy_3.label
        end as "city",
        case
            when rest_1."city" is null or round_1_hierarchy_3.label = '*' then 1
            else round_1_hierarchy_3.share
        end as "city_share",
        case
            when rest_1."job" is null then '*'
            when round_1_hierarchy_4.label is null
                then error('people_recoding_3: a value of job is not in the hierarchy tree_job. Build again from the microdata on.')
            else round_1_hierarchy_4.label
        end as "job",
        case
            when rest_1."job" is null or round_1_hierarchy_4.label = '*' then 1
            else round_1_hierarchy_4.share
        end as "job_share"
    from rest_1
    cross join round_1_range_1
    left join round_1_hierarchy_1
        on rest_1."age_leaf" = round_1_hierarchy_1.leaf
    cross join round_1_range_2
    left join round_1_hierarchy_2
        on rest_1."birth_day_leaf" = round_1_hierarchy_2.leaf
    left join round_1_hierarchy_3
        on rest_1."city_leaf" = round_1_hierarchy_3.leaf
    left join round_1_hierarchy_4
        on rest_1."job_leaf" = round_1_hierarchy_4.leaf

),

round_1_sizes as (

    select
        "age" as key_1,
        "birth_day" as key_2,
        "city" as key_3,
        "job" as key_4,
        cast(count(distinct subject) as bigint) as class_size,
        cast(count(*) as bigint) as records
    from round_1_generalized
    group by
        "age",
        "birth_day",
        "city",
        "job"

),

round_1_values_1 as (

    select
        "age" as key_1,
        "birth_day" as key_2,
        "city" as key_3,
        "job" as key_4,
        "illness" as value,
        cast(count(distinct subject) as bigint) as subjects
    from round_1_generalized
    group by
        "age",
        "birth_day",
        "city",
        "job",
        "illness"

),

round_1_pairs_1 as (

    select
        sizes.key_1,
        sizes.key_2,
        sizes.key_3,
        sizes.key_4,
        sizes.class_size,
        cast(sum(found.subjects) as bigint) as pairs
    from round_1_sizes as sizes
    inner join round_1_values_1 as found
        on sizes.key_1 = found.key_1 and sizes.key_2 = found.key_2 and sizes.key_3 = found.key_3 and sizes.key_4 = found.key_4
    group by
        sizes.key_1,
        sizes.key_2,
        sizes.key_3,
        sizes.key_4,
        sizes.class_size

),

round_1_compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.key_3,
        found.key_4,
        found.value,
        cast(found.subjects as double) as subjects,
        cast(totals.pairs as double) as class_subjects,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.subjects, 0) end as double
        ) as table_value_subjects,
        cast(whole.subjects as double) as table_subjects,
        whole.number_of_values
    from round_1_values_1 as found
    inner join round_1_pairs_1 as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2 and found.key_3 = totals.key_3 and found.key_4 = totals.key_4
    left join whole_distribution_1 as distribution
        on found.value = distribution.value
    cross join whole_total_1 as whole

),

round_1_measured_1 as (

    select
        key_1,
        key_2,
        key_3,
        key_4,
        coalesce(max(case when cast(value as TEXT) in ('illness a', 'illness c') then subjects end), 0) / max(class_size) as limited_share,
        cast(count(*) as bigint) as distinct_l,
        sum(case when subjects * table_subjects > class_subjects * table_value_subjects then subjects * table_subjects - class_subjects * table_value_subjects else 0 end) / max(class_subjects * table_subjects) as t
    from round_1_compared_1
    group by
        key_1,
        key_2,
        key_3,
        key_4

),

round_1_moved_1 as (

    select
        key_1,
        key_2,
        key_3,
        key_4,
        subjects,
        class_subjects,
        table_value_subjects,
        table_subjects
    from round_1_compared_1
    union all
    select
        labelled.key_1,
        labelled.key_2,
        labelled.key_3,
        labelled.key_4,
        labelled.subjects,
        labelled.class_subjects,
        cast(branches.subjects as double) as table_value_subjects,
        labelled.table_subjects
    from (
        select
            compared.key_1,
            compared.key_2,
            compared.key_3,
            compared.key_4,
            coalesce(labels.level_1, '*') as label,
            sum(compared.subjects) as subjects,
            max(compared.class_subjects) as class_subjects,
            max(compared.table_subjects) as table_subjects
        from round_1_compared_1 as compared
        left join whole_labels_1 as labels
            on compared.value = labels.value
        group by
            compared.key_1,
            compared.key_2,
            compared.key_3,
            compared.key_4,
            coalesce(labels.level_1, '*')
    ) as labelled
    left join whole_branches_1 as branches
        on labelled.label = branches.label and branches.level = 1

),

round_1_hierarchical_1 as (

    select
        key_1,
        key_2,
        key_3,
        key_4,
        sum(
            case
                when subjects * table_subjects > class_subjects * coalesce(table_value_subjects, 0)
                    then subjects * table_subjects - class_subjects * coalesce(table_value_subjects, 0)
                else 0
            end
        ) / max(class_subjects * table_subjects * 2) as hierarchical_t
    from round_1_moved_1
    group by
        key_1,
        key_2,
        key_3,
        key_4

),

round_1_measures as (

    select
        sizes.key_1 as "age",
        sizes.key_2 as "birth_day",
        sizes.key_3 as "city",
        sizes.key_4 as "job",
        sizes.class_size,
        sizes.records,
        measured_1.limited_share as "illness_limited_share",
        measured_1.distinct_l as "illness_distinct_l",
        hierarchical_1.hierarchical_t as "illness_hierarchical_t",
        measured_1.t as "illness_t",
        case when sizes.class_size >= 20 then 0 when (select everybody.subjects from whole_everybody as everybody) >= 20 then measured_1.t end as "illness_n_t"
    from round_1_sizes as sizes
    inner join round_1_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2 and sizes.key_3 = measured_1.key_3 and sizes.key_4 = measured_1.key_4
    inner join round_1_hierarchical_1 as hierarchical_1
        on sizes.key_1 = hierarchical_1.key_1 and sizes.key_2 = hierarchical_1.key_2 and sizes.key_3 = hierarchical_1.key_3 and sizes.key_4 = hierarchical_1.key_4

),

round_1_classes as (

    select
        *,
        coalesce(
            class_size < 2
            or "illness_limited_share" > 0.9
            or "illness_distinct_l" < 2
            or "illness_hierarchical_t" > 0.95
            or "illness_n_t" is null
            or "illness_n_t" > 0.95,
            false
        ) as is_violating
    from round_1_measures

),

round_1_released as (

    select
        generalized."person_number",
        generalized."age",
        generalized."age_lower",
        generalized."age_upper",
        cast(1 as integer) as "age_level",
        generalized."age_share",
        generalized."birth_day",
        generalized."birth_day_lower",
        generalized."birth_day_upper",
        cast(2 as integer) as "birth_day_level",
        generalized."birth_day_share",
        generalized."city",
        cast(1 as integer) as "city_level",
        generalized."city_share",
        generalized."job",
        cast(1 as integer) as "job_level",
        generalized."job_share"
    from round_1_generalized as generalized
    inner join round_1_classes as classes
        on
            generalized."age" = classes."age"
            and generalized."birth_day" = classes."birth_day"
            and generalized."city" = classes."city"
            and generalized."job" = classes."job"
    where not classes.is_violating

),

rest_2 as (

    select rest_1.*
    from rest_1
    left join round_1_released as released
        on rest_1."person_number" = released."person_number"
    where released."person_number" is null

),

round_2_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "w"."main"."tree_age"

),

round_2_hierarchy_1 as (

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
        from "w"."main"."tree_age"
    ) as leaves
    group by leaf

),

round_2_range_2 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "w"."main"."tree_day"

),

round_2_hierarchy_2 as (

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
        from "w"."main"."tree_day"
    ) as leaves
    group by leaf

),

round_2_hierarchy_3 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_3 as TEXT) as label,
            cast(count(*) over (partition by level_3) as double)
            / count(*) over () as share
        from "w"."main"."tree_city"
    ) as leaves
    group by leaf

),

round_2_hierarchy_4 as (

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
        from "w"."main"."tree_job"
    ) as leaves
    group by leaf

),

round_2_generalized as not materialized (

    select
        rest_2."person_number",
        rest_2."illness",
        rest_2."subject",
        case
            when rest_2."age" is null then '*'
            when round_2_hierarchy_1.label is null
                then error('people_recoding_3: a value of age is not in the hierarchy tree_age. Build again from the microdata on.')
            else round_2_hierarchy_1.label
        end as "age",
        coalesce(round_2_hierarchy_1.label_lower, round_2_range_1.range_lower) as "age_lower",
        coalesce(round_2_hierarchy_1.label_upper, round_2_range_1.range_upper) as "age_upper",
        case
            when rest_2."age" is null or round_2_hierarchy_1.label = '*' then 1
            else round_2_hierarchy_1.share
        end as "age_share",
        case
            when rest_2."birth_day" is null then '*'
            when round_2_hierarchy_2.label is null
                then error('people_recoding_3: a value of birth_day is not in the hierarchy tree_day. Build again from the microdata on.')
            else round_2_hierarchy_2.label
        end as "birth_day",
        coalesce(round_2_hierarchy_2.label_lower, round_2_range_2.range_lower) as "birth_day_lower",
        coalesce(round_2_hierarchy_2.label_upper, round_2_range_2.range_upper) as "birth_day_upper",
        case
            when rest_2."birth_day" is null or round_2_hierarchy_2.label = '*' then 1
            else round_2_hierarchy_2.share
        end as "birth_day_share",
        case
            when rest_2."city" is null then '*'
            when round_2_hierarchy_3.label is null
                then error('people_recoding_3: a value of city is not in the hierarchy tree_city. Build again from the microdata on.')
            else round_2_hierarchy_3.label
        end as "city",
        case
            when rest_2."city" is null or round_2_hierarchy_3.label = '*' then 1
            else round_2_hierarchy_3.share
        end as "city_share",
        case
            when rest_2."job" is null then '*'
            when round_2_hierarchy_4.label is null
                then error('people_recoding_3: a value of job is not in the hierarchy tree_job. Build again from the microdata on.')
            else round_2_hierarchy_4.label
        end as "job",
        case
            when rest_2."job" is null or round_2_hierarchy_4.label = '*' then 1
            else round_2_hierarchy_4.share
        end as "job_share"
    from rest_2
    cross join round_2_range_1
    left join round_2_hierarchy_1
        on rest_2."age_leaf" = round_2_hierarchy_1.leaf
    cross join round_2_range_2
    left join round_2_hierarchy_2
        on rest_2."birth_day_leaf" = round_2_hierarchy_2.leaf
    left join round_2_hierarchy_3
        on rest_2."city_leaf" = round_2_hierarchy_3.leaf
    left join round_2_hierarchy_4
        on rest_2."job_leaf" = round_2_hierarchy_4.leaf

),

round_2_released as (

    select
        generalized."person_number",
        generalized."age",
        generalized."age_lower",
        generalized."age_upper",
        cast(2 as integer) as "age_level",
        generalized."age_share",
        generalized."birth_day",
        generalized."birth_day_lower",
        generalized."birth_day_upper",
        cast(3 as integer) as "birth_day_level",
        generalized."birth_day_share",
        generalized."city",
        cast(3 as integer) as "city_level",
        generalized."city_share",
        generalized."job",
        cast(2 as integer) as "job_level",
        generalized."job_share"
    from round_2_generalized as generalized

),

recoding as (
    select * from round_1_released
    union all
    select * from round_2_released

)

select * from recoding
