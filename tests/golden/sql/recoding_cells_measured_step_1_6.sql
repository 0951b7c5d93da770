create temporary table dbt_anonymize_weak as
with

generalized as (

    select
        cells.cell_1 as dbt_anonymize_cell_1,
        cells.cell_2 as dbt_anonymize_cell_2,
        cells.value_1 as "disease",
        cells.records
    from dbt_anonymize_cells as cells

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
            "disease" as value,
            cast(sum(records) as bigint) as subjects
        from generalized
        group by "disease"
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
        "dbt_anonymize_cell_1" as key_1,
        "dbt_anonymize_cell_2" as key_2,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from generalized
    group by
        "dbt_anonymize_cell_1",
        "dbt_anonymize_cell_2"

),

values_1 as (

    select
        "dbt_anonymize_cell_1" as key_1,
        "dbt_anonymize_cell_2" as key_2,
        "disease" as value,
        cast(sum(records) as bigint) as subjects
    from generalized
    group by
        "dbt_anonymize_cell_1",
        "dbt_anonymize_cell_2",
        "disease"

),

compared_1 as (

    select
        found.key_1,
        found.key_2,
        found.value,
        cast(found.subjects as double) as subjects,
        cast(totals.class_size as double) as class_subjects,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.subjects, 0) end as double
        ) as table_value_subjects,
        cast(whole.subjects as double) as table_subjects,
        whole.number_of_values
    from values_1 as found
    inner join sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2
    left join distribution_1 as distribution
        on found.value = distribution.value
    cross join total_1 as whole

),

measured_1 as (

    select
        key_1,
        key_2,
        cast(count(*) as bigint) as distinct_l,
        sum(case when subjects * table_subjects > class_subjects * table_value_subjects then subjects * table_subjects - class_subjects * table_value_subjects else 0 end) / max(class_subjects * table_subjects) as t
    from compared_1
    group by
        key_1,
        key_2

),

measures as (

    select
        sizes.key_1 as "dbt_anonymize_cell_1",
        sizes.key_2 as "dbt_anonymize_cell_2",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "disease_distinct_l",
        measured_1.t as "disease_t"
    from sizes as sizes
    inner join measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2

),

classes as (

    select
        *,
        coalesce(
            class_size < 2
            or "disease_distinct_l" < 2
            or "disease_t" > 0.437,
            false
        ) as is_violating
    from measures

),

weak as (

    select
        dbt_anonymize_cell_1 as cell_1,
        dbt_anonymize_cell_2 as cell_2
    from classes
    where
        is_violating
        and (dbt_anonymize_cell_1 <> '*' or dbt_anonymize_cell_2 <> '*')

)

select * from weak
