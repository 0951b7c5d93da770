create temporary table dbt_anonymize_cuts as
with

ranges as (

    select
        summary.part,
        summary.attempts,
        summary.records as total,
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

asked as (

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

held as (

    select
        asked.part,
        asked.attribute,
        case asked.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end as code,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    inner join asked on unfinished.part = asked.part

),

histogram as (

    select
        part,
        attribute,
        code,
        sum(records) as records
    from held
    group by
        part,
        attribute,
        code

),

labelled as (

    select
        histogram.part,
        histogram.attribute,
        histogram.code,
        histogram.records,
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

counted as (

    select
        part,
        attribute,
        to_code,
        min(code) as from_code,
        cast(sum(records) as bigint) as records
    from labelled
    group by
        part,
        attribute,
        to_code

),

units as (

    select
        *,
        cast(
            sum(records) over (
                partition by part, attribute order by to_code rows between unbounded preceding and current row
            ) as bigint
        ) as up_to
    from counted

),

judged as (

    select
        units.part,
        units.attribute,
        max(asked.width) as width,
        max(asked.attempts) as attempts,
        max(asked.is_halved) as is_halved,
        max(
            case
                when
                    asked.is_halved = 1
                    and 2 * units.up_to >= asked.total
                    and 2 * (units.up_to - units.records) < asked.total
                    then cast(floor(asked.total / 2.0) as bigint) * 2147483648 + (2147483647 - units.to_code)
            end
        ) as best,
        max(
            case
                when
                    asked.is_halved = 1
                    and 2 * units.up_to >= asked.total
                    and 2 * (units.up_to - units.records) < asked.total
                    then cast(floor(asked.total / 2.0) as bigint) - units.up_to + units.records
            end
        ) as shared,
        sum(case when units.records < 2 then 0 else 1 end) as commons,
        sum(case when units.records < 2 then units.records else 0 end) as rare,
        min(case when units.records < 2 then null else units.records * 2147483648 + units.to_code end) as common
    from units
    inner join asked on units.part = asked.part and units.attribute = asked.attribute
    group by
        units.part,
        units.attribute

),

possible as (

    select
        *,
        row_number() over (partition by part order by width desc, attribute asc) as place
    from judged
    where
        (is_halved = 1 and best >= 2 * 2147483648)
        or (is_halved = 0 and commons > case when rare between 1 and 1 then 1 else 0 end)

),

chosen as (

    select
        part,
        attribute,
        is_halved,
        place as attempts,
        cast(2147483647 - mod(best, 2147483648) as integer) as boundary,
        shared,
        case when rare between 1 and 1 then mod(common, 2147483648) end as joined
    from possible
    where place = attempts + 1

),

sides as (

    select
        part,
        attribute,
        0 as side,
        0 as from_code,
        boundary as to_code,
        shared,
        attempts
    from chosen
    where is_halved = 1
    union all
    select
        part,
        attribute,
        1 as side,
        boundary + 1 as from_code,
        2147483647 as to_code,
        null as shared,
        attempts
    from chosen
    where is_halved = 1
    union all
    select
        units.part,
        units.attribute,
        case when units.records < 2 or units.to_code = chosen.joined then -1 else units.to_code end as side,
        units.from_code,
        units.to_code,
        null as shared,
        chosen.attempts
    from units
    inner join chosen on units.part = chosen.part and units.attribute = chosen.attribute
    where chosen.is_halved = 0

)

select
    part,
    attribute,
    from_code,
    to_code,
    shared,
    0 as attempts,
    cast(
        dense_rank() over (order by part, side)
        + (select max(summary.part) from dbt_anonymize_summary as summary) as integer
    ) as child
from sides
