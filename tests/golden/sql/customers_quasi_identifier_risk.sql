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
        cast(1 as bigint) as one_in

    union all

    select
        2 as subset_number,
        'zip' as quasi_identifiers,
        1 as size,
        cast(1 as bigint) as one_in

    union all

    select
        3 as subset_number,
        'gender' as quasi_identifiers,
        1 as size,
        cast(1 as bigint) as one_in

    union all

    select
        4 as subset_number,
        'birth_date, zip' as quasi_identifiers,
        2 as size,
        cast(1 as bigint) as one_in

    union all

    select
        5 as subset_number,
        'birth_date, gender' as quasi_identifiers,
        2 as size,
        cast(1 as bigint) as one_in

    union all

    select
        6 as subset_number,
        'zip, gender' as quasi_identifiers,
        2 as size,
        cast(1 as bigint) as one_in

    union all

    select
        7 as subset_number,
        'birth_date, zip, gender' as quasi_identifiers,
        3 as size,
        cast(1 as bigint) as one_in

),

totals as (

    select cast(sum(records) as double) as records
    from coded

),

classes as (

    select
        1 as subset_number,
        sum(records) as class_size
    from coded
    group by code_1

    union all

    select
        2 as subset_number,
        sum(records) as class_size
    from coded
    group by code_2

    union all

    select
        3 as subset_number,
        sum(records) as class_size
    from coded
    group by code_3

    union all

    select
        4 as subset_number,
        sum(records) as class_size
    from coded
    group by code_1, code_2

    union all

    select
        5 as subset_number,
        sum(records) as class_size
    from coded
    group by code_1, code_3

    union all

    select
        6 as subset_number,
        sum(records) as class_size
    from coded
    group by code_2, code_3

    union all

    select
        7 as subset_number,
        sum(records) as class_size
    from coded
    group by code_1, code_2, code_3

),

measured as (

    select
        subset_number,
        cast(count(*) as double) as classes,
        sum(cast(class_size as double) * (class_size - 1)) as equal_pairs,
        sum(case when class_size = 1 then cast(1 as double) else 0 end) as alone
    from classes
    group by subset_number

)

select
    subsets.quasi_identifiers,
    subsets.size,
    measured.classes * subsets.one_in / totals.records as distinction,
    1 - measured.equal_pairs * subsets.one_in
    / nullif(totals.records * (totals.records - 1), 0) as separation,
    measured.alone * subsets.one_in / totals.records as uniqueness,
    subsets.one_in
from subsets
cross join totals
left join measured on subsets.subset_number = measured.subset_number
order by subsets.subset_number
