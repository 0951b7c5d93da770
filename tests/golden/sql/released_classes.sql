with

microdata as (

    select
        "illness" as a_1,
        1 as sample_share
    from "memory"."main"."frequencies"

),

table_distribution_1 as (

    select
        value,
        subjects,
        row_number() over (order by case when value is null then 1 else 0 end, value) as position,
        cast(sum(subjects) over (
            order by case when value is null then 1 else 0 end, value rows between unbounded preceding and current row
        ) as bigint) as subjects_up_to
    from (
        select
            "a_1" as value,
            cast(count(*) as bigint) as subjects
        from microdata
        group by "a_1"
    ) as counted

),

table_total_1 as (

    select
        cast(coalesce(sum(subjects), 0) as bigint) as subjects,
        count(*) as number_of_values,
        cast(coalesce(sum(case when value is null then subjects end), 0) as bigint) as missing
    from table_distribution_1

),

members_generalized as (

    select
        cqi as equivalence_class,
        v_1 as label_1,
        v_3 as a_1,
        1 as records
    from "memory"."main"."population"
    where cqi is not null

),

members_sizes as (

    select
        "equivalence_class" as key_1,
        max(label_1) as further_1,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from members_generalized
    group by
        "equivalence_class"

),

members_values_1 as (

    select
        "equivalence_class" as key_1,
        "a_1" as value,
        cast(sum(records) as bigint) as subjects
    from members_generalized
    group by
        "equivalence_class",
        "a_1"

),

members_compared_1 as (

    select
        found.key_1,
        found.value,
        cast(found.subjects as double) as subjects,
        cast(totals.class_size as double) as class_subjects,
        cast(totals.class_size as double) as class_size,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.subjects, 0) end as double
        ) as table_value_subjects,
        cast(whole.subjects as double) as table_subjects,
        whole.number_of_values
    from members_values_1 as found
    inner join members_sizes as totals
        on found.key_1 = totals.key_1
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

members_measured_1 as (

    select
        key_1,
        cast(count(*) as bigint) as distinct_l,
        exp(ln(max(class_subjects)) - sum(subjects * ln(subjects)) / max(class_subjects)) as entropy_l,
        max(subjects) / max(class_size) as highest_share,
        sum(case when subjects * table_subjects > class_subjects * table_value_subjects then subjects * table_subjects - class_subjects * table_value_subjects else 0 end) / max(class_subjects * table_subjects) as t,
        case when min(table_value_subjects) > 0 then max((subjects * table_subjects - class_subjects * table_value_subjects) / (class_subjects * table_value_subjects)) end as beta,
        case when min(table_value_subjects) > 0 and count(*) = max(number_of_values) then max(abs(ln(subjects * table_subjects / (class_subjects * table_value_subjects)))) / ln(2) end as delta
    from members_compared_1
    group by
        key_1

),

members_measures as (

    select
        sizes.key_1 as "equivalence_class",
        sizes.further_1 as "label_1",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "a_1_distinct_l",
        measured_1.entropy_l as "a_1_entropy_l",
        measured_1.highest_share as "a_1_highest_share",
        measured_1.t as "a_1_t",
        measured_1.beta as "a_1_beta",
        measured_1.delta as "a_1_delta"
    from members_sizes as sizes
    inner join members_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1

),

classes as (

    select
        equivalence_class,
        population_size
    from "memory"."main"."frequencies"
    where effort = 2

)

select
    cast(2 as integer) as effort,
    found.label_1 as "age",
    found.equivalence_class,
    found.class_size,
    found.records,
    classes.population_size,
    found."a_1_distinct_l" as "illness_distinct_l",
    found."a_1_entropy_l" as "illness_entropy_l",
    found."a_1_highest_share" as "illness_highest_share",
    found."a_1_t" as "illness_t",
    found."a_1_beta" as "illness_beta",
    found."a_1_delta" as "illness_delta"
from members_measures as found
left join classes on found.equivalence_class = classes.equivalence_class
