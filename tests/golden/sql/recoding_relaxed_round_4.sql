create temporary table dbt_anonymize_next_rows as
with

sided as (

    select
        cuts.child,
        cuts.attempts,
        case
            when
                case cuts.attribute
                    when 1 then unfinished.code_1
                    when 2 then unfinished.code_2
                end = cuts.to_code
                then cuts.shared
        end as shared,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.record_key,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    inner join dbt_anonymize_cuts as cuts
        on
            unfinished.part = cuts.part
            and case cuts.attribute
                when 1 then unfinished.code_1
                when 2 then unfinished.code_2
            end
            between cuts.from_code and cuts.to_code

),

middle as (

    select
        *,
        row_number() over (
            partition by child order by code_1, code_2, record_key
        ) as place
    from sided
    where shared is not null

),

parted as (

    select
        child as part,
        attempts,
        code_1,
        code_2,
        record_key,
        records
    from sided
    where shared is null
    union all
    select
        child + case when place > shared then 1 else 0 end as part,
        attempts,
        code_1,
        code_2,
        record_key,
        records
    from middle

)

select * from parted
