create temporary table dbt_anonymize_next_rows as
with

sided as (

    select
        cuts.child,
        cuts.attempts,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.value_1,
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

parted as (

    select
        child as part,
        attempts,
        code_1,
        code_2,
        value_1,
        records
    from sided

)

select * from parted
