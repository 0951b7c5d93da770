{#
  Scratch tables of the hierarchies, as select statements. The leaves of each are numbered so that every label covers
  neighbouring numbers; NULL is number 0. A label is then a pair of numbers, and so is any set of values: its smallest
  and its largest number. The label that covers a set covers both.
#}

{# One row per leaf of one quasi-identifier: `leaf`, `code`, `upper_bound` (interval), `level_<l>`, and the codes that
   the label of level l covers, `first_<l>` to `last_<l>`. Unique even if the seed has changed since its check. #}
{% macro _coded_leaves(quasi_identifier) -%}
{%- set is_interval = quasi_identifier.kind == "interval" -%}
{%- set leaf = "lower_bound" if is_interval else dbt_anonymize._as_text("value") -%}
{%- set levels = range(1, quasi_identifier.levels + 1) -%}
with

leaves as (

    select
        {{ leaf }} as leaf,
        {%- if is_interval %}
        max(upper_bound) as upper_bound,
        {%- endif %}
        {%- for level in levels %}
        min({{ dbt_anonymize._as_text("level_" ~ level) }}) as level_{{ level }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ quasi_identifier.hierarchy }}
    where {{ leaf }} is not null
    group by {{ leaf }}

),

coded as (

    select
        *,
        row_number() over (
            order by
                {%- if not is_interval %}
                {%- for level in levels | reverse %}
                level_{{ level }},
                {%- endfor %}
                {%- endif %}
                leaf
        ) as code
    from leaves

)

select
    *,
    code as first_0,
    code as last_0
    {%- for level in levels %},
    min(code) over (partition by level_{{ level }}) as first_{{ level }},
    max(code) over (partition by level_{{ level }}) as last_{{ level }}
    {%- endfor %}
from coded
{%- endmacro %}


{# All leaves as numbers, to compare quasi-identifiers with each other: `attribute`, `code`, `is_interval`, the ends of
   the leaf as shares of the range (`starts`, `ends`; 0 without meaning for categories), and for categories the last
   code and the share of each label. Lower hierarchies repeat their root. Code 0 is NULL. #}
{% macro _all_leaves(quasi_identifiers, height) -%}
{%- set double = dbt_anonymize._type_double() -%}
with
{%- for quasi_identifier in quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}

range_{{ loop.index }} as (

    select
        min(leaf) as range_lower,
        max(upper_bound) as range_upper
    from {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }}

),
{%- endif %}
{%- endfor %}

leaves as (

    {%- for quasi_identifier in quasi_identifiers %}
    {%- set is_interval = quasi_identifier.kind == "interval" %}
    {%- set hierarchy = quasi_identifier.hierarchy %}

    select
        {{ loop.index }} as attribute,
        leaves.code,
        {{ 1 if is_interval else 0 }} as is_interval,
        {%- if is_interval %}
        {%- set whole = dbt_anonymize._width("ranges.range_lower", "ranges.range_upper", hierarchy) %}
        {{ dbt_anonymize._width("ranges.range_lower", "leaves.leaf", hierarchy) }} / {{ whole }} as starts,
        {{ dbt_anonymize._width("ranges.range_lower", "leaves.upper_bound", hierarchy) }} / {{ whole }} as ends,
        {%- else %}
        cast(0 as {{ double }}) as starts,
        cast(0 as {{ double }}) as ends,
        {%- endif %}
        {%- for number in range(height + 1) %}
        {%- set level = 0 if is_interval else [number, quasi_identifier.levels] | min %}
        leaves.last_{{ level }}{{ " as last_" ~ number if number != level }},
        {%- if is_interval %}
        cast(0 as {{ double }})
        {%- else %}
        cast(leaves.last_{{ level }} - leaves.first_{{ level }} + 1 as {{ double }}) / count(*) over ()
        {%- endif %} as share_{{ number }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }} as leaves
    {%- if is_interval %}
    cross join range_{{ loop.index }} as ranges
    {%- endif %}

    union all

    select
        {{ loop.index }} as attribute,
        0 as code,
        {{ 1 if is_interval else 0 }} as is_interval,
        cast(0 as {{ double }}) as starts,
        cast(0 as {{ double }}) as ends,
        {%- for level in range(height + 1) %}
        0 as last_{{ level }},
        cast(0 as {{ double }}) as share_{{ level }}{{ "," if not loop.last }}
        {%- endfor %}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

)

select
    attribute,
    cast(code as {{ dbt.type_int() }}) as code,
    is_interval,
    starts,
    ends
    {%- for level in range(height + 1) %},
    cast(last_{{ level }} as {{ dbt.type_int() }}) as last_{{ level }},
    share_{{ level }}
    {%- endfor %}
from leaves
{%- endmacro %}
