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

current_rows as (

    select
        cast("visit" as TEXT) as record_key,
        equivalence_class as cqi,
        md5(case when "age" is null then 'n' else 't' || cast(length(cast("age" as TEXT)) as TEXT) || ':' || cast("age" as TEXT) end || case when "it's ""her""" is null then 'n' else 't' || cast(length(cast("it's ""her""" as TEXT)) as TEXT) || ':' || cast("it's ""her""" as TEXT) end || case when "illness" is null then 'n' else 't' || cast(length(cast("illness" as TEXT)) as TEXT) || ':' || cast("illness" as TEXT) end) as content,
        "age" as v_1,
        "it's ""her""" as v_2,
        "illness" as v_3
    from "memory"."main"."frequencies"
    where equivalence_class is not null

),

known as (

    select *
    from (
        select
            *,
            md5(case when "v_1" is null then 'n' else 't' || cast(length(cast("v_1" as TEXT)) as TEXT) || ':' || cast("v_1" as TEXT) end || case when "v_2" is null then 'n' else 't' || cast(length(cast("v_2" as TEXT)) as TEXT) || ':' || cast("v_2" as TEXT) end || case when "v_3" is null then 'n' else 't' || cast(length(cast("v_3" as TEXT)) as TEXT) || ':' || cast("v_3" as TEXT) end) as content,
            row_number() over (partition by record_key order by entered desc) as age
        from "memory"."main"."population"
    ) as numbered
    where age = 1

),

versions as (

    select
        known.*,
        case
            when
                current_rows.record_key is null
                or current_rows.cqi <> known.cqi
                or current_rows.content <> known.content
                then 1
            else 0
        end as is_leaving,
        case
            when current_rows.cqi = known.cqi and current_rows.content <> known.content then 1 else 0
        end as is_changed
    from known
    left join current_rows on known.record_key = current_rows.record_key

),

parted_generalized as (

    select
        cohort,
        is_leaving,
        v_3 as a_1,
        1 as records
    from versions
    where left_at is null

),

parted_sizes as (

    select
        "cohort" as key_1,
        "is_leaving" as key_2,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from parted_generalized
    group by
        "cohort",
        "is_leaving"

),

parted_values_1 as (

    select
        "cohort" as key_1,
        "is_leaving" as key_2,
        "a_1" as value,
        cast(sum(records) as bigint) as subjects
    from parted_generalized
    group by
        "cohort",
        "is_leaving",
        "a_1"

),

parted_compared_1 as (

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
    from parted_values_1 as found
    inner join parted_sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

parted_measured_1 as (

    select
        key_1,
        key_2,
        cast(count(*) as bigint) as distinct_l
    from parted_compared_1
    group by
        key_1,
        key_2

),

parted_measures as (

    select
        sizes.key_1 as "cohort",
        sizes.key_2 as "is_leaving",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "a_1_distinct_l"
    from parted_sizes as sizes
    inner join parted_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2

),

parted_classes as (

    select
        *,
        coalesce(
            class_size < 3
            or "a_1_distinct_l" < 2,
            false
        ) as is_violating
    from parted_measures

),

held as (

    select cohort
    from parted_classes
    group by cohort
    having max(is_leaving) = 1 and max(case when is_violating then 1 else 0 end) = 1

),

gone as (

    select
        versions.*,
        versions.cohort || ' ' || cast(coalesce(versions.left_at, 4) as TEXT) as prior
    from versions
    left join held on versions.cohort = held.cohort
    where versions.left_at is not null or (versions.is_leaving = 1 and held.cohort is null)

),

candidates as (

    select
        current_rows.*,
        coalesce(gone.prior, 'new') as prior
    from current_rows
    left join gone on current_rows.record_key = gone.record_key
    left join versions on current_rows.record_key = versions.record_key
    where versions.record_key is null or gone.record_key is not null

),


joining_generalized as (

    select
        cqi,
        prior,
        v_3 as a_1,
        1 as records
    from candidates

),

joining_sizes as (

    select
        "cqi" as key_1,
        "prior" as key_2,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from joining_generalized
    group by
        "cqi",
        "prior"

),

joining_values_1 as (

    select
        "cqi" as key_1,
        "prior" as key_2,
        "a_1" as value,
        cast(sum(records) as bigint) as subjects
    from joining_generalized
    group by
        "cqi",
        "prior",
        "a_1"

),

joining_compared_1 as (

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
    from joining_values_1 as found
    inner join joining_sizes as totals
        on found.key_1 = totals.key_1 and found.key_2 = totals.key_2
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

joining_measured_1 as (

    select
        key_1,
        key_2,
        cast(count(*) as bigint) as distinct_l
    from joining_compared_1
    group by
        key_1,
        key_2

),

joining_measures as (

    select
        sizes.key_1 as "cqi",
        sizes.key_2 as "prior",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "a_1_distinct_l"
    from joining_sizes as sizes
    inner join joining_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1 and sizes.key_2 = measured_1.key_2

),

joining_classes as (

    select
        *,
        coalesce(
            class_size < 3
            or "a_1_distinct_l" < 2,
            false
        ) as is_violating
    from joining_measures

),

absent as (

    select gone.*
    from gone
    left join candidates on gone.record_key = candidates.record_key
    left join joining_classes
        on
            candidates.cqi = joining_classes.cqi
            and candidates.prior = joining_classes.prior
            and not joining_classes.is_violating
    where joining_classes.prior is null

),


absent_parts_generalized as (

    select
        prior,
        v_3 as a_1,
        1 as records
    from absent

),

absent_parts_sizes as (

    select
        "prior" as key_1,
        cast(sum(records) as bigint) as class_size,
        cast(sum(records) as bigint) as records
    from absent_parts_generalized
    group by
        "prior"

),

absent_parts_values_1 as (

    select
        "prior" as key_1,
        "a_1" as value,
        cast(sum(records) as bigint) as subjects
    from absent_parts_generalized
    group by
        "prior",
        "a_1"

),

absent_parts_compared_1 as (

    select
        found.key_1,
        found.value,
        cast(found.subjects as double) as subjects,
        cast(totals.class_size as double) as class_subjects,
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.subjects, 0) end as double
        ) as table_value_subjects,
        cast(whole.subjects as double) as table_subjects,
        whole.number_of_values
    from absent_parts_values_1 as found
    inner join absent_parts_sizes as totals
        on found.key_1 = totals.key_1
    left join table_distribution_1 as distribution
        on found.value = distribution.value
    cross join table_total_1 as whole

),

absent_parts_measured_1 as (

    select
        key_1,
        cast(count(*) as bigint) as distinct_l
    from absent_parts_compared_1
    group by
        key_1

),

absent_parts_measures as (

    select
        sizes.key_1 as "prior",
        sizes.class_size,
        sizes.records,
        measured_1.distinct_l as "a_1_distinct_l"
    from absent_parts_sizes as sizes
    inner join absent_parts_measured_1 as measured_1
        on sizes.key_1 = measured_1.key_1

),

absent_parts_classes as (

    select
        *,
        coalesce(
            class_size < 3
            or "a_1_distinct_l" < 2,
            false
        ) as is_violating
    from absent_parts_measures

),

joined as (

    select
        candidates.*,
        md5('4 ' || candidates.prior || ' ' || candidates.cqi) as cohort
    from candidates
    inner join joining_classes
        on candidates.cqi = joining_classes.cqi and candidates.prior = joining_classes.prior
    left join absent_parts_classes
        on candidates.prior = absent_parts_classes.prior and absent_parts_classes.is_violating
    where not joining_classes.is_violating and absent_parts_classes.prior is null

)

select
    record_key,
    cqi,
    cohort,
    'joined' as state,
    v_1,
    v_2,
    v_3,
    3 as after_release
from joined
union all
select
    versions.record_key,
    case when versions.is_leaving = 1 and held.cohort is null then null else versions.cqi end as cqi,
    versions.cohort,
    case
        when versions.is_leaving = 1 and held.cohort is null then 'left'
        when versions.is_changed = 1 then 'changing'
        when versions.is_leaving = 1 then 'leaving'
        else 'released'
    end as state,
    versions.v_1,
    versions.v_2,
    versions.v_3,
    3 as after_release
from versions
left join held on versions.cohort = held.cohort
where versions.left_at is null
union all
select
    candidates.record_key,
    cast(null as TEXT) as cqi,
    candidates.prior as cohort,
    'waiting' as state,
    case when 1 = 0 then candidates.v_1 end as v_1,
    case when 1 = 0 then candidates.v_2 end as v_2,
    case when 1 = 0 then candidates.v_3 end as v_3,
    3 as after_release
from candidates
left join joined on candidates.record_key = joined.record_key
where joined.record_key is null
