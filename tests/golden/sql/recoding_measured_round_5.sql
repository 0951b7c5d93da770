create temporary table dbt_anonymize_next_rows as
with

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
    inner join dbt_anonymize_cuts as cuts on unfinished.part = cuts.part

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

)

select
    part,
    attempts,
    code_1,
    code_2,
    value_1,
    records
from parted
