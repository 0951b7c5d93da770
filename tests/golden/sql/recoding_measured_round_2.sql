create temporary table dbt_anonymize_cuts as
with

proposed as (

    select * from dbt_anonymize_proposed

),

all_rows as (

    select
        value_1 as "disease",
        1 as records
    from dbt_anonymize_encoded

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
            "disease" as value,
            cast(count(*) as bigint) as subjects
        from all_rows
        group by "disease"
    ) as counted

),

whole_total_1 as (

    select
        cast(coalesce(sum(subjects), 0) as bigint) as subjects,
        count(*) as number_of_values,
        cast(coalesce(sum(case when value is null then subjects end), 0) as bigint) as missing
    from whole_distribution_1

),

sided as (

    select
        cuts.part as whole,
        cuts.child,
        cuts.boundary,
        cuts.from_code,
        cuts.to_code,
        case cuts.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end as code,
        cuts.attempts,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.value_1,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    inner join proposed as cuts on unfinished.part = cuts.part

),

parted as (

    select
        whole,
        child + case when code > boundary then 1 else 0 end as part,
        attempts,
        code_1,
        code_2,
        value_1,
        records
    from sided
    where
        code between from_code and to_code

),

generalized as (

    select
        whole as dbt_anonymize_whole,
        part as dbt_anonymize_part,
        value_1 as "disease",
        records
    from parted

),

sizes as (

    select
        "dbt_anonymize_whole" as key_1,
        "dbt_anonymize_part" as key_2,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from generalized
    group by
        "dbt_anonymize_whole",
        "dbt_anonymize_part"

),

values_1 as (

    select
        "dbt_anonymize_whole" as key_1,
        "dbt_anonymize_part" as key_2,
        "disease" as value,
        cast(sum(records) as bigint) as subjects
    from generalized
    group by
        "dbt_anonymize_whole",
        "dbt_anonymize_part",
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
    left join whole_distribution_1 as distribution
        on found.value = distribution.value
    cross join whole_total_1 as whole

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
        sizes.key_1 as "dbt_anonymize_whole",
        sizes.key_2 as "dbt_anonymize_part",
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

refused as (

    select distinct dbt_anonymize_whole as part
    from classes
    where is_violating

)

select
    part,
    attribute,
    from_code,
    to_code,
    boundary,
    0 as attempts,
    child
from proposed
where part not in (select refused.part from refused)

union all

select
    part,
    min(attribute) as attribute,
    0 as from_code,
    2147483647 as to_code,
    cast(null as integer) as boundary,
    max(attempts) as attempts,
    min(child) as child
from proposed
where part in (select refused.part from refused)
group by part
