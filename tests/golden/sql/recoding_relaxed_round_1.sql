create temporary table dbt_anonymize_cuts as
with

ranges as (

    select
        summary.part,
        summary.attempts,
        summary.records,
        attributes.attribute,
        case attributes.attribute
            when 1 then summary.lowest_1
            when 2 then summary.lowest_2
        end as lowest,
        case attributes.attribute
            when 1 then summary.highest_1
            when 2 then summary.highest_2
        end as highest
    from dbt_anonymize_summary as summary
    cross join dbt_anonymize_leaves as attributes
    where attributes.code = 0 and summary.records >= 4

),

widths as (

    select
        ranges.*,
        case when lower_leaf.is_interval = 1 and ranges.lowest > 0 then 1 else 0 end as is_halved,
        case
            when ranges.highest <= lower_leaf.last_0 then 0
            when ranges.highest <= lower_leaf.last_1 then 1
            when ranges.highest <= lower_leaf.last_2 then 2
            else 3
        end as level,
        case
            when ranges.lowest = 0 then 1
            when lower_leaf.is_interval = 1 then upper_leaf.ends - lower_leaf.starts
            when ranges.highest <= lower_leaf.last_0 then lower_leaf.share_0
            when ranges.highest <= lower_leaf.last_1 then lower_leaf.share_1
            when ranges.highest <= lower_leaf.last_2 then lower_leaf.share_2
            else 1
        end as width
    from ranges
    inner join dbt_anonymize_leaves as lower_leaf
        on ranges.attribute = lower_leaf.attribute and ranges.lowest = lower_leaf.code
    inner join dbt_anonymize_leaves as upper_leaf
        on ranges.attribute = upper_leaf.attribute and ranges.highest = upper_leaf.code
    where ranges.lowest < ranges.highest

),

candidates as (

    select
        *,
        row_number() over (partition by part order by width desc, attribute asc) as position,
        count(*) over (partition by part) as candidates
    from widths

),

asked as (

    select *
    from candidates
    where position = attempts + 1 or (position > attempts and records < 64)

),

histogram as (

    select
        asked.part,
        asked.attribute,
        case asked.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end as code,
        sum(unfinished.records) as records
    from dbt_anonymize_rows as unfinished
    inner join asked on unfinished.part = asked.part
    group by
        asked.part,
        asked.attribute,
        case asked.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end

),

labelled as (

    select
        histogram.part,
        histogram.attribute,
        histogram.records,
        asked.position,
        asked.records as total,
        asked.is_halved,
        case
            when asked.is_halved = 1 or histogram.code = 0 then histogram.code
            when asked.lowest = 0 then asked.highest
            when asked.level = 1 then leaf.last_0
            when asked.level = 2 then leaf.last_1
            else leaf.last_2
        end as to_code
    from histogram
    inner join asked on histogram.part = asked.part and histogram.attribute = asked.attribute
    inner join dbt_anonymize_leaves as leaf
        on histogram.attribute = leaf.attribute and histogram.code = leaf.code

),

units as (

    select
        part,
        attribute,
        to_code,
        cast(sum(records) as bigint) as records,
        max(position) as position,
        max(total) as total,
        max(is_halved) as is_halved
    from labelled
    group by
        part,
        attribute,
        to_code

),

counted as (

    select
        *,
        sum(records) over (
            partition by part, attribute order by to_code rows between unbounded preceding and current row
        ) as up_to
    from units
    where is_halved = 1

),

halved as (

    select
        part,
        attribute,
        position,
        to_code,
        case
            when 2 * up_to >= total and 2 * (up_to - records) < total
                then cast(floor(total / 2.0) as bigint)
            else -1
        end as smaller_side,
        cast(floor(total / 2.0) as bigint) - up_to + records as shared
    from counted

),

possible as (

    select
        part,
        max(position) as position
    from halved
    group by
        part,
        attribute
    having max(smaller_side) >= 2
    union all
    select
        part,
        max(position) as position
    from units
    where is_halved = 0
    group by
        part,
        attribute
    having
        sum(case when records >= 2 then 1 else 0 end)
        > case
            when sum(case when records < 2 then records else 0 end) between 1 and 1 then 1
            else 0
        end

),

chosen as (

    select
        part,
        min(position) as position
    from possible
    group by part

),

halves as (

    select
        halved.*,
        row_number() over (partition by halved.part order by halved.smaller_side desc, halved.to_code asc) as place
    from halved
    inner join chosen on halved.part = chosen.part and halved.position = chosen.position

),

branches as (

    select
        units.part,
        units.attribute,
        units.position,
        units.to_code,
        units.records,
        sum(case when units.records < 2 then units.records else 0 end) over (partition by units.part) as rare,
        row_number() over (
            partition by units.part
            order by case when units.records < 2 then 1 else 0 end, units.records, units.to_code
        ) as place,
        coalesce(lag(units.to_code) over (partition by units.part order by units.to_code), -1) + 1 as from_code
    from units
    inner join chosen on units.part = chosen.part and units.position = chosen.position
    where units.is_halved = 0

),

sides as (

    select
        part,
        attribute,
        position,
        1 as is_halved,
        0 as is_rest,
        0 as from_code,
        to_code,
        shared
    from halves
    where place = 1
    union all
    select
        part,
        attribute,
        position,
        1 as is_halved,
        0 as is_rest,
        to_code + 1 as from_code,
        2147483647 as to_code,
        shared
    from halves
    where place = 1
    union all
    select
        part,
        attribute,
        position,
        0 as is_halved,
        case when records < 2 or (rare between 1 and 1 and place = 1) then 1 else 0 end as is_rest,
        from_code,
        to_code,
        cast(0 as bigint) as shared
    from branches

)

select
    part,
    attribute,
    from_code,
    to_code,
    cast(
        dense_rank() over (order by part, case when is_rest = 1 then -1 else from_code end)
        + greatest(
            (select max(summary.part) from dbt_anonymize_summary as summary),
            (select coalesce(max(done.part), 0) from dbt_anonymize_done_parts as done)
        ) as integer
    ) as child,
    shared,
    is_halved,
    position as attempts,
    1 as is_cut
from sides

union all

select
    asked.part,
    1 as attribute,
    0 as from_code,
    2147483647 as to_code,
    asked.part as child,
    cast(0 as bigint) as shared,
    0 as is_halved,
    max(asked.position) as attempts,
    0 as is_cut
from asked
left join chosen on asked.part = chosen.part
where chosen.part is null
group by asked.part
having max(asked.position) < max(asked.candidates)
