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


{#
  What a cut leaves whole, as numbers, so that quasi-identifiers compare: one row per `attribute`, `code` and `level`. A
  cut along an attribute of which the lowest label for the part ends at `label_end` divides it into the units of this
  level; the one that holds the code ends at `to_code`. A unit is a leaf of an interval (`is_halved`), a label below the
  one that is cut, or all that is not NULL, and NULL itself, which is code 0. From the smallest `starts` to the largest
  `ends` of its units is the share of the domain that a part spans.
#}
{% macro _units_of_cuts(quasi_identifiers) -%}
{%- set double, everything = dbt_anonymize._type_double(), dbt_anonymize._highest_code() -%}
with
{%- for quasi_identifier in quasi_identifiers %}

range_{{ loop.index }} as (

    {% if quasi_identifier.kind == "interval" -%}
    select
        min(leaf) as range_lower,
        max(upper_bound) as range_upper
    {%- else -%}
    select cast(count(*) as {{ double }}) as leaves
    {%- endif %}
    from {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }}

),
{%- endfor %}

units as (

    {%- for quasi_identifier in quasi_identifiers %}
    {%- set number, is_interval = loop.index, quasi_identifier.kind == "interval" %}
    {%- set top = 1 if is_interval else quasi_identifier.levels %}

    select
        {{ number }} as attribute,
        0 as code,
        {{ top }} as level,
        0 as to_code,
        {{ everything }} as label_end,
        0 as is_halved,
        cast(0 as {{ double }}) as starts,
        cast(1 as {{ double }}) as ends
    {%- for level in range(top + 1) %}
    {%- set is_leaf = is_interval and level == 0 %}
    {%- set label_end = "leaves.last_" ~ (level + 1) if level + 1 < top else everything %}
    {%- set starts, ends = "0", "1" %}
    {%- if is_leaf %}
        {%- set hierarchy = quasi_identifier.hierarchy %}
        {%- set whole = " / " ~ dbt_anonymize._width("ranges.range_lower", "ranges.range_upper", hierarchy) %}
        {%- set starts = dbt_anonymize._width("ranges.range_lower", "leaves.leaf", hierarchy) ~ whole %}
        {%- set ends = dbt_anonymize._width("ranges.range_lower", "leaves.upper_bound", hierarchy) ~ whole %}
    {%- elif label_end != everything %}
        {%- set ends = "(" ~ label_end ~ " - leaves.first_" ~ (level + 1) ~ " + 1) / ranges.leaves" %}
    {%- endif %}

    union all

    select
        {{ number }} as attribute,
        leaves.code,
        {{ level }} as level,
        {{ "leaves.last_" ~ level if level < top else everything }} as to_code,
        {{ label_end }} as label_end,
        {{ 1 if is_leaf else 0 }} as is_halved,
        {{ starts }} as starts,
        {{ ends }} as ends
    from {{ dbt_anonymize._scratch("leaves_" ~ number) }} as leaves
    {%- if is_leaf or label_end != everything %}
    cross join range_{{ number }} as ranges
    {%- endif %}
    {%- endfor %}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

)

select
    attribute,
    cast(code as {{ dbt.type_int() }}) as code,
    level,
    cast(to_code as {{ dbt.type_int() }}) as to_code,
    cast(label_end as {{ dbt.type_int() }}) as label_end,
    is_halved,
    starts,
    ends
from units
{%- endmacro %}
