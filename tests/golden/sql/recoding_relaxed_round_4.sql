create temporary table dbt_anonymize_next_rows as
with

halves as (

    select
        part,
        attribute,
        min(to_code) as boundary,
        min(child) as lower_child,
        max(child) as upper_child,
        max(shared) as shared
    from dbt_anonymize_cuts
    where is_halved = 1
    group by
        part,
        attribute

),

middle as (

    select
        halves.lower_child,
        halves.upper_child,
        halves.shared,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.record_key,
        unfinished.records,
        row_number() over (
            partition by unfinished.part
            order by
                unfinished.code_1,
                unfinished.code_2,
                unfinished.record_key
        ) as place
    from dbt_anonymize_rows as unfinished
    inner join halves on unfinished.part = halves.part
    where
        case halves.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end = halves.boundary

),

parted as (

    select
        case
            when
                case halves.attribute
                    when 1 then unfinished.code_1
                    when 2 then unfinished.code_2
                end <= halves.boundary
                then halves.lower_child
            else halves.upper_child
        end as part,
        0 as attempts,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.record_key,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    inner join halves on unfinished.part = halves.part
    where
        case halves.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end <> halves.boundary
    union all
    select
        case when place <= shared then lower_child else upper_child end as part,
        0 as attempts,
        code_1,
        code_2,
        record_key,
        records
    from middle
    union all
    select
        cuts.child as part,
        case when cuts.is_cut = 1 then 0 else cuts.attempts end as attempts,
        unfinished.code_1,
        unfinished.code_2,
        unfinished.record_key,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    inner join dbt_anonymize_cuts as cuts
        on unfinished.part = cuts.part
    where
        cuts.is_halved = 0
        and case cuts.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end
        between cuts.from_code and cuts.to_code

)

select * from parted
