{#
  The cuts that leave at least k records on every side: for each unfinished part the widest attribute that has one.
  One row per side: `part`, `attribute`, the codes `from_code` to `to_code`, and `child`, the part that the side becomes
  (sides of one part may share it). `shared` records of `to_code` go to the lower side and the others to the upper one
  (relaxed). `attempts`: of the child. A large part is asked about one attribute only, since the widest can be cut as a
  rule; where it cannot, the part stays itself with one more attempt (`is_cut` 0) and is asked about the next one.
#}
{% macro _mondrian_cuts(plan) -%}
with

{{ dbt_anonymize._mondrian_asked(plan) }}

{{ dbt_anonymize._mondrian_units(plan) }}

{{ dbt_anonymize._mondrian_chosen(plan) }}

{{ dbt_anonymize._mondrian_sides(plan.k) }}

select
    part,
    attribute,
    from_code,
    to_code,
    cast(
        dense_rank() over (order by part, case when is_rest = 1 then -1 else from_code end)
        {#- A part that is asked again keeps its number, so finished ones may have a higher one. #}
        + greatest(
            (select max(summary.part) from {{ dbt_anonymize._scratch("summary") }} as summary),
            (select coalesce(max(done.part), 0) from {{ dbt_anonymize._scratch("done_parts") }} as done)
        ) as {{ dbt.type_int() }}
    ) as child,
    shared,
    is_halved,
    position as attempts,
    1 as is_cut
from sides

union all

select
    {{ dbt_anonymize._mondrian_uncut("asked.part", "max(asked.position)") }}
from asked
left join chosen on asked.part = chosen.part
where chosen.part is null
group by asked.part
having max(asked.position) < max(asked.candidates)
{%- endmacro %}


{# CTEs that end in `asked`: the attributes about which each part is asked, widest first, with the codes in the part. #}
{% macro _mondrian_asked(plan) -%}
{%- set leaves = dbt_anonymize._scratch("leaves") -%}
{%- set large = 32 * plan.k -%}
ranges as (

    select
        summary.part,
        summary.attempts,
        summary.records,
        attributes.attribute,
        {{ dbt_anonymize._of_attribute("attributes.attribute", plan, "summary.lowest_") | indent(8) }} as lowest,
        {{ dbt_anonymize._of_attribute("attributes.attribute", plan, "summary.highest_") | indent(8) }} as highest
    from {{ dbt_anonymize._scratch("summary") }} as summary
    cross join {{ leaves }} as attributes
    where attributes.code = 0 and summary.records >= {{ 2 * plan.k }}

),

widths as (

    select
        ranges.*,
        case when lower_leaf.is_interval = 1 and ranges.lowest > 0 then 1 else 0 end as is_halved,
        case
            {%- for level in range(plan.height) %}
            when ranges.highest <= lower_leaf.last_{{ level }} then {{ level }}
            {%- endfor %}
            else {{ plan.height }}
        end as level,
        case
            when ranges.lowest = 0 then 1
            when lower_leaf.is_interval = 1 then upper_leaf.ends - lower_leaf.starts
            {%- for level in range(plan.height) %}
            when ranges.highest <= lower_leaf.last_{{ level }} then lower_leaf.share_{{ level }}
            {%- endfor %}
            else 1
        end as width
    from ranges
    inner join {{ leaves }} as lower_leaf
        on ranges.attribute = lower_leaf.attribute and ranges.lowest = lower_leaf.code
    inner join {{ leaves }} as upper_leaf
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
    where position = attempts + 1 or (position > attempts and records < {{ large }})

),
{%- endmacro %}


{#
  CTEs that end in `units`: what a cut of an asked attribute may not part. That is a leaf of an interval, a label below
  the one that is cut, or all that is not NULL.
#}
{% macro _mondrian_units(plan) -%}
{%- set code = dbt_anonymize._of_attribute("asked.attribute", plan, "unfinished.code_") | indent(8) -%}
histogram as (

    select
        asked.part,
        asked.attribute,
        {{ code }} as code,
        sum(unfinished.records) as records
    from {{ dbt_anonymize._scratch("rows") }} as unfinished
    inner join asked on unfinished.part = asked.part
    group by
        asked.part,
        asked.attribute,
        {{ code }}

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
            {%- for level in range(1, plan.height) %}
            when asked.level = {{ level }} then leaf.last_{{ level - 1 }}
            {%- endfor %}
            else leaf.last_{{ plan.height - 1 }}
        end as to_code
    from histogram
    inner join asked on histogram.part = asked.part and histogram.attribute = asked.attribute
    inner join {{ dbt_anonymize._scratch("leaves") }} as leaf
        on histogram.attribute = leaf.attribute and histogram.code = leaf.code

),

units as (

    select
        part,
        attribute,
        to_code,
        cast(sum(records) as {{ dbt.type_bigint() }}) as records,
        max(position) as position,
        max(total) as total,
        max(is_halved) as is_halved
    from labelled
    group by
        part,
        attribute,
        to_code

),
{%- endmacro %}


{# CTEs that end in `halved`, every cut of an interval in two, and `chosen`: the attribute along which a part is cut. #}
{% macro _mondrian_chosen(plan) -%}
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
        {%- if plan.is_strict %}
        case when up_to < total - up_to then up_to else total - up_to end as smaller_side,
        cast(0 as {{ dbt.type_bigint() }}) as shared
        {%- else %}
        {#- The leaf that holds the middle of the part. #}
        case
            when 2 * up_to >= total and 2 * (up_to - records) < total
                then cast(floor(total / 2.0) as {{ dbt.type_bigint() }})
            else -1
        end as smaller_side,
        cast(floor(total / 2.0) as {{ dbt.type_bigint() }}) - up_to + records as shared
        {%- endif %}
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
    having max(smaller_side) >= {{ plan.k }}
    union all
    {#- Labels with fewer than k records need each other, or one more, and then at least one other label beside them. #}
    select
        part,
        max(position) as position
    from units
    where is_halved = 0
    group by
        part,
        attribute
    having
        sum(case when records >= {{ plan.k }} then 1 else 0 end)
        > case
            when sum(case when records < {{ plan.k }} then records else 0 end) between 1 and {{ plan.k - 1 }} then 1
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
{%- endmacro %}


{# CTEs that end in `sides`: both halves of an interval, or the branches of a label, of which the rest are one side. #}
{% macro _mondrian_sides(k) -%}
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
        sum(case when units.records < {{ k }} then units.records else 0 end) over (partition by units.part) as rare,
        row_number() over (
            partition by units.part
            order by case when units.records < {{ k }} then 1 else 0 end, units.records, units.to_code
        ) as place,
        coalesce(lag(units.to_code) over (partition by units.part order by units.to_code), -1) + 1 as from_code
    from units
    inner join chosen on units.part = chosen.part and units.position = chosen.position
    where units.is_halved = 0

),

sides as (

    {%- for codes in [
        ["0 as from_code", "to_code"],
        ["to_code + 1 as from_code", dbt_anonymize._highest_code() ~ " as to_code"],
    ] %}
    {{- "\n" if loop.first }}
    select
        part,
        attribute,
        position,
        1 as is_halved,
        0 as is_rest,
        {{ codes | join(",\n        ") }},
        shared
    from halves
    where place = 1
    union all
    {%- endfor %}
    select
        part,
        attribute,
        position,
        0 as is_halved,
        case when records < {{ k }} or (rare between 1 and {{ k - 1 }} and place = 1) then 1 else 0 end as is_rest,
        from_code,
        to_code,
        cast(0 as {{ dbt.type_bigint() }}) as shared
    from branches

)
{%- endmacro %}


{# The select list of a part that is not cut now, but asked about its next attribute. #}
{% macro _mondrian_uncut(part, attempts) -%}
{{ part }},
    1 as attribute,
    0 as from_code,
    {{ dbt_anonymize._highest_code() }} as to_code,
    {{ part }} as child,
    cast(0 as {{ dbt.type_bigint() }}) as shared,
    0 as is_halved,
    {{ attempts }} as attempts,
    0 as is_cut
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
