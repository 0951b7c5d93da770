create temporary table dbt_anonymize_cuts as
with

held as (

    select
        unfinished.part,
        attributes.attribute,
        case attributes.attribute
            when 1 then unfinished.code_1
            when 2 then unfinished.code_2
        end as code,
        unfinished.records
    from dbt_anonymize_rows as unfinished
    cross join dbt_anonymize_units as attributes
    where attributes.code = 0

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

ranges as (

    select
        part,
        attribute,
        min(code) as lowest,
        max(code) as highest,
        sum(records) as total
    from histogram
    group by
        part,
        attribute
    having min(code) < max(code) and sum(records) >= 4

),

counted as (

    select
        ranges.part,
        ranges.attribute,
        unit.is_halved,
        unit.to_code,
        min(unit.code) as from_code,
        min(unit.starts) as starts,
        max(unit.ends) as ends,
        max(ranges.total) as total,
        sum(histogram.records) as records
    from ranges
    inner join dbt_anonymize_units as lowest
        on
            ranges.attribute = lowest.attribute
            and ranges.lowest = lowest.code
            and ranges.highest > lowest.to_code
            and ranges.highest <= lowest.label_end
    inner join histogram on ranges.part = histogram.part and ranges.attribute = histogram.attribute
    inner join dbt_anonymize_units as unit
        on
            histogram.attribute = unit.attribute
            and histogram.code = unit.code
            and lowest.level = unit.level
    group by
        ranges.part,
        ranges.attribute,
        unit.is_halved,
        unit.to_code

),

placed as (

    select
        *,
        sum(records) over (
            partition by part, attribute
            order by case when is_halved = 1 then to_code else records end, to_code
            rows between unbounded preceding and current row
        ) as up_to
    from counted

),

units as (

    select
        *,
        case
            when is_halved = 1 then total
            when records < 2 or up_to - records between 1 and 1 then 0
            else records
        end as smaller,
        case
            when is_halved = 0 then 0
            when 2 * up_to >= total then up_to
        end as distance
    from placed

),

judged as (

    select
        part,
        attribute,
        min(distance) as distance,
        row_number() over (partition by part order by max(ends) - min(starts) desc, attribute asc) as place
    from units
    group by
        part,
        attribute
    having max(smaller) >= 2

)

select
    units.part,
    units.attribute,
    case when units.is_halved = 1 then 0 else units.from_code end as from_code,
    case when units.is_halved = 1 then 2147483647 else units.to_code end as to_code,
    case when units.is_halved = 1 then units.to_code end as boundary,
    case
        when units.is_halved = 1
            then cast(floor(units.total / 2.0) as bigint) - units.up_to + units.records
    end as shared,
    0 as attempts,
    cast(
        2 * dense_rank() over (order by units.part, case when units.smaller = 0 then -1 else units.to_code end)
        + (select max(unfinished.part) from dbt_anonymize_rows as unfinished)
        as integer
    ) as child
from units
inner join judged
    on units.part = judged.part and units.attribute = judged.attribute and units.distance = judged.distance
where judged.place = 1
