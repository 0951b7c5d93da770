{#
  How unfinished parts are cut: each along the widest attribute of which every side has at least k records, but for
  those that were refused for other guarantees. Parts that have none are not in the result. One row per side: `part`,
  `attribute`, the codes `from_code` to `to_code`, and `child`, the part that the side becomes; sides of one part may
  share it. Of a relaxed cut in halves, `shared` records of the last code of the lower side stay in it, and the others
  go to the next child, the upper one.
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
    shared,
    {{ "attempts" if plan.is_measured else "0 as attempts" }},
    cast(
        dense_rank() over (order by part, side)
        + (select max(summary.part) from {{ dbt_anonymize._scratch("summary") }} as summary) as {{ dbt.type_int() }}
    ) as child
from sides
{%- endmacro %}


{# CTEs that end in `asked`: the attributes of which each part has several codes, and how wide they are in it. #}
{% macro _mondrian_asked(plan) -%}
{%- set leaves = dbt_anonymize._scratch("leaves") -%}
ranges as (

    select
        summary.part,
        summary.attempts,
        summary.records as total,
        attributes.attribute,
        {{ dbt_anonymize._of_attribute("attributes.attribute", plan, "summary.lowest_") | indent(8) }} as lowest,
        {{ dbt_anonymize._of_attribute("attributes.attribute", plan, "summary.highest_") | indent(8) }} as highest
    from {{ dbt_anonymize._scratch("summary") }} as summary
    cross join {{ leaves }} as attributes
    where attributes.code = 0 and summary.records >= {{ 2 * plan.k }}

),

asked as (

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
{%- endmacro %}


{#
  CTEs that end in `units`: what a cut of an asked attribute may not part, with the records `up_to` it. That is a leaf
  of an interval, a label below the one that is cut, or all that is not NULL.
#}
{% macro _mondrian_units(plan) -%}
{%- set bigint = dbt.type_bigint() -%}
held as (

    select
        asked.part,
        asked.attribute,
        {{ dbt_anonymize._of_attribute("asked.attribute", plan, "unfinished.code_") | indent(8) }} as code,
        unfinished.records
    from {{ dbt_anonymize._scratch("rows") }} as unfinished
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

counted as (

    select
        part,
        attribute,
        to_code,
        min(code) as from_code,
        cast(sum(records) as {{ bigint }}) as records
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
            ) as {{ bigint }}
        ) as up_to
    from counted

),
{%- endmacro %}


{#
  CTEs that end in `chosen`: the attribute along which a part is cut. `best` is where an interval is cut in two: the
  size of the smaller side times 2^31, plus what is left of that above the code, so that of equal sizes the smallest
  code is taken. `common` is the smallest label of at least k records, as size times 2^31 plus code, and `rare` counts
  the records of smaller ones: these need each other, or the smallest one as well, and another label beside them.
#}
{% macro _mondrian_chosen(plan) -%}
{%- set is_rare = "units.records < " ~ plan.k -%}
{%- set smaller = "least(units.up_to, asked.total - units.up_to)" -%}
{%- set is_cut = "asked.is_halved = 1" -%}
{%- if not plan.is_strict -%}
    {#- The leaf that holds the middle of the part. -#}
    {%- set smaller = "cast(floor(asked.total / 2.0) as " ~ dbt.type_bigint() ~ ")" -%}
    {%- set is_cut -%}
asked.is_halved = 1
                    and 2 * units.up_to >= asked.total
                    and 2 * (units.up_to - units.records) < asked.total
    {%- endset -%}
{%- endif -%}
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
                    {{ is_cut }}
                    then {{ smaller }} * 2147483648 + (2147483647 - units.to_code)
            end
        ) as best,
        {%- if not plan.is_strict %}
        max(
            case
                when
                    {{ is_cut }}
                    then {{ smaller }} - units.up_to + units.records
            end
        ) as shared,
        {%- endif %}
        sum(case when {{ is_rare }} then 0 else 1 end) as commons,
        sum(case when {{ is_rare }} then units.records else 0 end) as rare,
        min(case when {{ is_rare }} then null else units.records * 2147483648 + units.to_code end) as common
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
        (is_halved = 1 and best >= {{ plan.k }} * 2147483648)
        or (is_halved = 0 and commons > case when rare between 1 and {{ plan.k - 1 }} then 1 else 0 end)

),

chosen as (

    select
        part,
        attribute,
        is_halved,
        place as attempts,
        cast(2147483647 - mod(best, 2147483648) as {{ dbt.type_int() }}) as boundary,
        {{ "cast(null as " ~ dbt.type_bigint() ~ ") as shared" if plan.is_strict else "shared" }},
        case when rare between 1 and {{ plan.k - 1 }} then mod(common, 2147483648) end as joined
    from possible
    where place = attempts + 1

),
{%- endmacro %}


{# CTE `sides`: both halves of an interval, or the labels below the one that is cut, of which the rest are one side. #}
{% macro _mondrian_sides(k) -%}
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
        {{ dbt_anonymize._highest_code() }} as to_code,
        null as shared,
        attempts
    from chosen
    where is_halved = 1
    union all
    select
        units.part,
        units.attribute,
        case when units.records < {{ k }} or units.to_code = chosen.joined then -1 else units.to_code end as side,
        units.from_code,
        units.to_code,
        null as shared,
        chosen.attempts
    from units
    inner join chosen on units.part = chosen.part and units.attribute = chosen.attribute
    where chosen.is_halved = 0

)
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
