with

tuples as (

    select
        "birth_date" as value_1,
        "zip" as value_2,
        "gender" as value_3,
        sum(records) as records
    from "shop"."main"."customers_frequencies"
    group by
        "birth_date",
        "zip",
        "gender"

),

codes_1 as (

    select
        value_1,
        cast(row_number() over (order by value_1) as integer) as code
    from (
        select distinct value_1
        from tuples
        where value_1 is not null
    ) as found

),

codes_2 as (

    select
        value_2,
        cast(row_number() over (order by value_2) as integer) as code
    from (
        select distinct value_2
        from tuples
        where value_2 is not null
    ) as found

),

codes_3 as (

    select
        value_3,
        cast(row_number() over (order by value_3) as integer) as code
    from (
        select distinct value_3
        from tuples
        where value_3 is not null
    ) as found

),

coded as (

    select
        coalesce(codes_1.code, 0) as code_1,
        coalesce(codes_2.code, 0) as code_2,
        coalesce(codes_3.code, 0) as code_3,
        cast(tuples.records as bigint) as records
    from tuples
    left join codes_1 on tuples.value_1 = codes_1.value_1
    left join codes_2 on tuples.value_2 = codes_2.value_2
    left join codes_3 on tuples.value_3 = codes_3.value_3

),

subsets as (

    select
        1 as subset_number,
        'birth_date' as quasi_identifiers,
        1 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_1
    ) as classes

    union all

    select
        2 as subset_number,
        'zip' as quasi_identifiers,
        1 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_2
    ) as classes

    union all

    select
        3 as subset_number,
        'gender' as quasi_identifiers,
        1 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_3
    ) as classes

    union all

    select
        4 as subset_number,
        'birth_date, zip' as quasi_identifiers,
        2 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_1, code_2
    ) as classes

    union all

    select
        5 as subset_number,
        'birth_date, gender' as quasi_identifiers,
        2 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_1, code_3
    ) as classes

    union all

    select
        6 as subset_number,
        'zip, gender' as quasi_identifiers,
        2 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_2, code_3
    ) as classes

    union all

    select
        7 as subset_number,
        'birth_date, zip, gender' as quasi_identifiers,
        3 as size,
        cast(count(*) as double) / nullif(cast(sum(class_size) as double), 0) as distinction,
        1 - sum(cast(class_size as double) * (class_size - 1))
        / nullif(cast(sum(class_size) as double) * (cast(sum(class_size) as double) - 1), 0) as separation,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) / nullif(sum(class_size), 0) as uniqueness
    from (
        select cast(sum(records) as bigint) as class_size
        from coded
        group by code_1, code_2, code_3
    ) as classes

)

select
    quasi_identifiers,
    size,
    distinction,
    separation,
    uniqueness
from subsets
order by subset_number
