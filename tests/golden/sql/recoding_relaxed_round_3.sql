create temporary table dbt_anonymize_next_rows as
with

sided as (

    select
        cuts.part as whole,
        cuts.child,
        cuts.boundary,
        cuts.shared,
        cuts.from_code,
        cuts.to_code,
        case cuts.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end as code,
        cuts.attempts,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.record_key,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    inner join dbt_anonymize_cuts as cuts on unfinished.part = cuts.part

),

middle as (

    select
        *,
        row_number() over (
            partition by child order by code_1, code_2, record_key
        ) as place
    from sided
    where code = boundary

),

parted as (

    select
        whole,
        child + case when code > boundary then 1 else 0 end as part,
        attempts,
        code_1,
        code_2,
        record_key,
        records
    from sided
    where
        code between from_code and to_code
        and (boundary is null or code <> boundary)
    union all
    select
        whole,
        child + case when place > shared then 1 else 0 end as part,
        attempts,
        code_1,
        code_2,
        record_key,
        records
    from middle

)

select
    part,
    attempts,
    code_1,
    code_2,
    record_key,
    records
from parted
