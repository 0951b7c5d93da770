{#
  How unfinished parts are cut: each along the widest attribute of which every side has at least k records, but for
  those that were refused for other guarantees. Parts that have none are not in the result. `child` is the part that the
  codes `from_code` to `to_code` become; several rows of one part may share it. A cut of an interval is one row: what is
  above its `boundary` becomes the next child. If it is relaxed, `shared` records of the boundary stay below it, and the
  others go above.
#}
{% macro _mondrian_cuts(plan) -%}
with

{{ dbt_anonymize._mondrian_counted(plan) }}

{{ dbt_anonymize._mondrian_judged(plan) }}
{%- if plan.is_measured %},

tried as (

    select distinct
        part,
        attempts
    from {{ dbt_anonymize._scratch("rows") }}

)
{%- endif %}

select
    units.part,
    units.attribute,
    case when units.is_halved = 1 then 0 else units.from_code end as from_code,
    case when units.is_halved = 1 then {{ dbt_anonymize._highest_code() }} else units.to_code end as to_code,
    case when units.is_halved = 1 then units.to_code end as boundary,
    {%- if not plan.is_strict %}
    case
        when units.is_halved = 1
            then {{ dbt_anonymize._half("units.total") }} - units.up_to + units.records
    end as shared,
    {%- endif %}
    {{ "judged.place" if plan.is_measured else "0" }} as attempts,
    cast(
        2 * dense_rank() over (order by units.part, case when units.smaller = 0 then -1 else units.to_code end)
        + (select max(unfinished.part) from {{ dbt_anonymize._scratch("rows") }} as unfinished)
        as {{ dbt.type_int() }}
    ) as child
from units
inner join judged
    on units.part = judged.part and units.attribute = judged.attribute and units.distance = judged.distance
{%- if plan.is_measured %}
inner join tried on units.part = tried.part
where judged.place = tried.attempts + 1
{%- else %}
where judged.place = 1
{%- endif %}
{%- endmacro %}


{#
  CTEs that end in `counted`: the units into which an attribute would be cut of which the part has several codes, with
  their records and `total`, those of the part.
#}
{% macro _mondrian_counted(plan) -%}
{%- set units = dbt_anonymize._scratch("units") -%}
held as (

    select
        unfinished.part,
        attributes.attribute,
        {{ dbt_anonymize._of_attribute("attributes.attribute", plan, "unfinished.code_") | indent(8) }} as code,
        unfinished.records
    from {{ dbt_anonymize._scratch("rows") }} as unfinished
    cross join {{ units }} as attributes
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
    having min(code) < max(code) and sum(records) >= {{ 2 * plan.k }}

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
    inner join {{ units }} as lowest
        on
            ranges.attribute = lowest.attribute
            and ranges.lowest = lowest.code
            and ranges.highest > lowest.to_code
            and ranges.highest <= lowest.label_end
    inner join histogram on ranges.part = histogram.part and ranges.attribute = histogram.attribute
    inner join {{ units }} as unit
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
{%- endmacro %}


{#
  CTEs that end in `judged`: the attributes along which a part can be cut, the widest first. One `smaller` must be k: of
  an interval it is the smaller side of a cut above this unit, of other attributes the records of the unit, or 0 if it
  is of the rest. The rest are the units below k, and the smallest of the others if they need it to be k. `distance` is
  least where an interval is cut: nearest to the middle, of two such places at the lower one; relaxed, at the unit that
  holds the middle.
#}
{% macro _mondrian_judged(plan) -%}
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
            when is_halved = 1 then {{ "least(up_to, total - up_to)" if plan.is_strict else "total" }}
            when records < {{ plan.k }} or up_to - records between 1 and {{ plan.k - 1 }} then 0
            else records
        end as smaller,
        case
            when is_halved = 0 then 0
            {%- if plan.is_strict %}
            else abs(4 * up_to - 2 * total + 1)
            {%- else %}
            when 2 * up_to >= total then up_to
            {%- endif %}
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
    having max(smaller) >= {{ plan.k }}

)
{%- endmacro %}


{# Half of a count, rounded down. #}
{% macro _half(count) -%}
    {{ return("cast(floor(" ~ count ~ " / 2.0) as " ~ dbt.type_bigint() ~ ")") }}
{%- endmacro %}


{# What belongs to the attribute that is cut: one of the numbered columns that begin with `prefix`. #}
{% macro _of_attribute(attribute, plan, prefix) -%}
case {{ attribute }}
    {%- for number in range(1, plan.codes | length + 1) %}
    when {{ number }} then {{ prefix }}{{ number }}
    {%- endfor %}
end
{%- endmacro %}


{# Larger than the code of any leaf. #}
{% macro _highest_code() -%}
    {{ return("2147483647") }}
{%- endmacro %}
