with

codes_1 as (

    select
        "birth_date" as found,
        cast(row_number() over (order by "birth_date") as integer) as code
    from (
        select distinct "birth_date"
        from "shop"."main"."customers_frequencies"
        where "birth_date" is not null
    ) as found

),

codes_2 as (

    select
        "zip" as found,
        cast(row_number() over (order by "zip") as integer) as code
    from (
        select distinct "zip"
        from "shop"."main"."customers_frequencies"
        where "zip" is not null
    ) as found

),

codes_3 as (

    select
        "gender" as found,
        cast(row_number() over (order by "gender") as integer) as code
    from (
        select distinct "gender"
        from "shop"."main"."customers_frequencies"
        where "gender" is not null
    ) as found

),

coded as (

    select
        coalesce(codes_1.code, 0) as code_1,
        coalesce(codes_2.code, 0) as code_2,
        coalesce(codes_3.code, 0) as code_3,
        cast(sum(tuples.records) as bigint) as records
    from "shop"."main"."customers_frequencies" as tuples
    left join codes_1 on tuples."birth_date" = codes_1.found
    left join codes_2 on tuples."zip" = codes_2.found
    left join codes_3 on tuples."gender" = codes_3.found
    group by
        coalesce(codes_1.code, 0),
        coalesce(codes_2.code, 0),
        coalesce(codes_3.code, 0)

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
