select
    known_records,
    subjects_at_risk,
    coalesce(
        problem,
        case
            when known_records = 2 and subjects_at_risk > 0
                then
                    cast(subjects_at_risk as TEXT)
                    || ' subjects would be found by their own values and linked records; the tables of the release are'
                    || ' not of one build. Run `dbt build -s +hospital_anonymized`.'
        end
    ) as problem
from (
    with

    subject_rows as (

        select
            encode(cast("token" as TEXT)) as subject_key,
            dense_rank() over (
                order by encode(case when "age" is null then 'n' else 't' || cast(length(cast("age" as TEXT)) as TEXT) || ':' || cast("age" as TEXT) end)
            ) as own_class
        from (
            select
                effort.*,
                identifiers.token
            from "shop"."main"."hospital_effort_4" as effort
            inner join "vault"."main"."hospital_identifiers" as identifiers
                on effort."patient_id" = identifiers."patient_id"
            where not effort.is_suppressed
        ) as effort_rows

    ),

    subjects as (

        select
            row_number() over (order by subject_key) as subject,
            subject_key,
            min(own_class) as own_class,
            count(*) as times
        from subject_rows
        where subject_key is not null
        group by subject_key

    ),

    linked_1 as (

        select
            parents.subject,
            encode(cast(children."stays_key" as TEXT)) as record_key,
            case when children."ward" is null then 'n' else 't' || cast(length(cast(children."ward" as TEXT)) as TEXT) || ':' || cast(children."ward" as TEXT) end || case when children."month" is null then 'n' else 't' || cast(length(cast(children."month" as TEXT)) as TEXT) || ':' || cast(children."month" as TEXT) end || case when children."month_lower" is null then 'n' else 't' || cast(length(cast(children."month_lower" as TEXT)) as TEXT) || ':' || cast(children."month_lower" as TEXT) end || case when children."month_upper" is null then 'n' else 't' || cast(length(cast(children."month_upper" as TEXT)) as TEXT) || ':' || cast(children."month_upper" as TEXT) end as record_text
        from "shop"."main"."hospital_released_stays" as children
        inner join subjects as parents
            on encode(cast(children."token" as TEXT)) = parents.subject_key

    ),

    linked_2 as (

        select
            parents.subject,
            encode(cast(children."results_key" as TEXT)) as record_key,
            case when children."test" is null then 'n' else 't' || cast(length(cast(children."test" as TEXT)) as TEXT) || ':' || cast(children."test" as TEXT) end || parents.record_text as record_text
        from "shop"."main"."hospital_released_results" as children
        inner join linked_1 as parents
            on encode(cast(children."stays_key" as TEXT)) = parents.record_key

    ),

    records as (

        select
            subject,
            1 as linked_table,
            encode(record_text) as record_values
        from linked_1
        union all

        select
            subject,
            2 as linked_table,
            encode(record_text) as record_values
        from linked_2

    ),

    equal_records as (

        select
            subject,
            linked_table,
            record_values,
            count(*) as times
        from records
        group by subject, linked_table, record_values

    ),

    numbered as (

        select
            linked_table,
            record_values,
            row_number() over (order by linked_table, record_values) as number
        from (
            select distinct
                linked_table,
                record_values
            from equal_records
        ) as distinct_records

    ),

    held as (

        select
            equal_records.subject,
            numbered.linked_table,
            numbered.number,
            equal_records.times
        from equal_records
        inner join numbered
            on
                equal_records.linked_table = numbered.linked_table
                and equal_records.record_values = numbered.record_values

    ),

    classes_of_subjects as (

        select
            subjects.subject,
            dense_rank() over (order by subjects.own_class) as known_class
        from subjects

    ),

    items as (

        select
            subject,
            number,
            1 as copy_number
        from held
        where times >= 1
        union all

        select
            subject,
            number,
            2 as copy_number
        from held
        where times >= 2

    ),

    sets_0 as (

        select
            known_class,
            subject
        from classes_of_subjects

    ),

    support_0 as (

        select
            known_class,
            count(*) as subjects
        from sets_0
        group by known_class

    ),

    rare_subjects_0 as (

        select distinct sets.subject
        from sets_0 as sets
        inner join support_0 as support
            on
                sets.known_class = support.known_class
        where support.subjects < 4

    ),

    sets_1 as (

        select
            sets.known_class,
            items.number as record_1,
            items.copy_number as last_copy,
            sets.subject
        from sets_0 as sets
        inner join support_0 as support
            on
                sets.known_class = support.known_class
        inner join items
            on sets.subject = items.subject
        where
            support.subjects >= 4
            and items.copy_number = 1

    ),

    support_1 as (

        select
            known_class,
            record_1,
            count(*) as subjects
        from sets_1
        group by known_class, record_1

    ),

    rare_subjects_1 as (

        select distinct sets.subject
        from sets_1 as sets
        inner join support_1 as support
            on
                sets.known_class = support.known_class
                and sets.record_1 = support.record_1
        where support.subjects < 4

    ),

    sets_2 as (

        select
            sets.known_class,
            sets.record_1,
            items.number as record_2,
            items.copy_number as last_copy,
            sets.subject
        from sets_1 as sets
        inner join support_1 as support
            on
                sets.known_class = support.known_class
                and sets.record_1 = support.record_1
        inner join items
            on sets.subject = items.subject
        where
            support.subjects >= 4
            and (
                (items.number > sets.record_1 and items.copy_number = 1)
                or (items.number = sets.record_1 and items.copy_number = sets.last_copy + 1)
            )

    ),

    support_2 as (

        select
            known_class,
            record_1,
            record_2,
            count(*) as subjects
        from sets_2
        group by known_class, record_1, record_2

    ),

    rare_subjects_2 as (

        select distinct sets.subject
        from sets_2 as sets
        inner join support_2 as support
            on
                sets.known_class = support.known_class
                and sets.record_1 = support.record_1
                and sets.record_2 = support.record_2
        where support.subjects < 4

    ),

    violations as (

        select
            subject,
            0 as known_records,
            1 as is_rare
        from rare_subjects_0
        union all

        select
            subject,
            1 as known_records,
            1 as is_rare
        from rare_subjects_1
        union all

        select
            subject,
            2 as known_records,
            1 as is_rare
        from rare_subjects_2

    ),

    smallest_known as (

        select
            subject,
            is_rare,
            min(known_records) as known_records
        from violations
        group by subject, is_rare

    )

    select
        0 as known_records,
        count(case when is_rare = 1 then 1 end) as subjects_at_risk,
        count(case when is_rare = 0 then 1 end) as subjects_not_diverse,
        cast(null as TEXT) as problem
    from smallest_known
    where known_records <= 0
    union all
    select
        1 as known_records,
        count(case when is_rare = 1 then 1 end) as subjects_at_risk,
        count(case when is_rare = 0 then 1 end) as subjects_not_diverse,
        cast(null as TEXT) as problem
    from smallest_known
    where known_records <= 1
    union all
    select
        2 as known_records,
        count(case when is_rare = 1 then 1 end) as subjects_at_risk,
        count(case when is_rare = 0 then 1 end) as subjects_not_diverse,
        cast(null as TEXT) as problem
    from smallest_known
    where known_records <= 2
    union all
    select
        cast(null as integer) as known_records,
        null as subjects_at_risk,
        null as subjects_not_diverse,
        cast('a key of the subjects is NULL' as TEXT) as problem
    from subject_rows
    where subject_key is null
    having count(*) > 0
    union all
    select
        cast(null as integer) as known_records,
        null as subjects_at_risk,
        null as subjects_not_diverse,
        cast('a key of the subjects stands there more than once' as TEXT) as problem
    from subjects
    where times > 1
    having count(*) > 0
    union all
    select
        cast(null as integer) as known_records,
        null as subjects_at_risk,
        null as subjects_not_diverse,
        cast('a record of stays has no subject: to_subject is NULL or leads nowhere' as TEXT) as problem
    from "shop"."main"."hospital_released_stays" as children
    left join subjects as parents
        on encode(cast(children."token" as TEXT)) = parents.subject_key
    where parents.subject is null
    having count(*) > 0
    union all
    select
        cast(null as integer) as known_records,
        null as subjects_at_risk,
        null as subjects_not_diverse,
        cast('a key of stays is NULL or stands there more than once' as TEXT) as problem
    from (
        select record_key
        from linked_1
        group by record_key
        having record_key is null or count(*) > 1
    ) as repeated
    having count(*) > 0
    union all
    select
        cast(null as integer) as known_records,
        null as subjects_at_risk,
        null as subjects_not_diverse,
        cast('a record of results has no subject: to_subject is NULL or leads nowhere' as TEXT) as problem
    from "shop"."main"."hospital_released_results" as children
    left join linked_1 as parents
        on encode(cast(children."stays_key" as TEXT)) = parents.record_key
    where parents.subject is null
    having count(*) > 0
    union all
    select
        cast(null as integer) as known_records,
        null as subjects_at_risk,
        null as subjects_not_diverse,
        cast('a key of results is NULL or stands there more than once' as TEXT) as problem
    from (
        select record_key
        from linked_2
        group by record_key
        having record_key is null or count(*) > 1
    ) as repeated
    having count(*) > 0
) as risks
union all
select
    null as known_records,
    null as subjects_at_risk,
    'the linked tables must be counted with the chosen effort, by the spec as it is, and with their rows. Run'
    || ' `dbt build -s +hospital_anonymized`.' as problem
from "shop"."main"."hospital_results"
where
    is_chosen
    and (effort <> 4 or fingerprint <> '6e0e81a2')
union all
select
    null as known_records,
    null as subjects_at_risk,
    'the records of stays must be those that effort 4 releases; ' || count(*)
    || ' are not, or are missing. Run `dbt build -s +hospital_anonymized`.' as problem
from (
    select released_key
    from (
        select
            released_key,
            1 as is_decided
        from "shop"."main"."hospital_linked_decisions_4"
        where
            linked_table = 'stays'
            and status <> 'left out'
        union all
        select
            "stays_key" as released_key,
            0 as is_decided
        from "shop"."main"."hospital_released_stays"
    ) as listed
    group by released_key
    having
        count(*) <> 2
        or sum(is_decided) <> 1
) as unmatched
having count(*) > 0
union all
select
    null as known_records,
    null as subjects_at_risk,
    'the records of results must be those that effort 4 releases; ' || count(*)
    || ' are not, or are missing. Run `dbt build -s +hospital_anonymized`.' as problem
from (
    select released_key
    from (
        select
            released_key,
            1 as is_decided
        from "shop"."main"."hospital_linked_decisions_4"
        where
            linked_table = 'results'
            and status <> 'left out'
        union all
        select
            "results_key" as released_key,
            0 as is_decided
        from "shop"."main"."hospital_released_results"
    ) as listed
    group by released_key
    having
        count(*) <> 2
        or sum(is_decided) <> 1
) as unmatched
having count(*) > 0
