{# One row per record: the labels of the part that it is in. #}
{% macro _mondrian_result(plan) -%}
with

{% for quasi_identifier in plan.quasi_identifiers -%}
domain_{{ loop.index }} as (

    {% if quasi_identifier.kind == "interval" -%}
    select
        min(leaf) as range_lower,
        max(upper_bound) as range_upper,
        max(code) as last_code,
        {{ dbt_anonymize._notation_of_leaves() | indent(8) }} as notation
    from (

        select
            *,
            row_number() over (order by {{ dbt_anonymize._as_bytes("level_1") }}) as place
        from {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }}

    ) as leaves
    {%- else -%}
    select count(*) as leaves
    from {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }}
    {%- endif %}

),

{% endfor -%}
parts as (

    select
        part,
        {%- for code in plan.codes %}
        min({{ code }}) as lowest_{{ loop.index }},
        max({{ code }}) as highest_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ dbt_anonymize._scratch("done_rows") }}
    group by part

),

labels as (

    select
        parts.part
        {%- for quasi_identifier in plan.quasi_identifiers %},
        {{ dbt_anonymize._mondrian_label_columns(quasi_identifier, loop.index) }}
        {%- endfor %}
    from parts
    {%- for quasi_identifier in plan.quasi_identifiers %}
    {%- set leaves = dbt_anonymize._scratch("leaves_" ~ loop.index) %}
    cross join domain_{{ loop.index }}
    {#- NULL has no leaf: a part with one is labelled * whatever else is in it. #}
    left join {{ leaves }} as lower_{{ loop.index }}
        on parts.lowest_{{ loop.index }} = lower_{{ loop.index }}.code
    {%- if quasi_identifier.kind == "interval" %}
    left join {{ leaves }} as upper_{{ loop.index }}
        on parts.highest_{{ loop.index }} = upper_{{ loop.index }}.code
    {%- endif %}
    {%- endfor %}

)

select
    encoded.record_key as {{ dbt_anonymize._quote(plan.record_key) }}
    {%- for quasi_identifier in plan.quasi_identifiers %}
    {%- for column in dbt_anonymize._recoded_columns(quasi_identifier) %},
    {{ dbt_anonymize._quote(column, "labels") }}
    {%- endfor %}
    {%- endfor %}
from {{ dbt_anonymize._scratch("encoded") }} as encoded
inner join {{ dbt_anonymize._scratch("done_rows") }} as done_rows
    on
        {{ dbt_anonymize._equal_columns("encoded", "done_rows", plan.identity) | join("\n        and ") }}
inner join labels on done_rows.part = labels.part
{%- endmacro %}


{# The columns that a quasi-identifier has in a recoding. #}
{% macro _recoded_columns(quasi_identifier) -%}
    {%- set name = quasi_identifier.name -%}
    {%- set bounds = [name ~ "_lower", name ~ "_upper"] if quasi_identifier.kind == "interval" else [] -%}
    {{ return([name] + bounds + [name ~ "_level", name ~ "_share"]) }}
{%- endmacro %}


{# Label, bounds, level and share of one quasi-identifier in a part. #}
{% macro _mondrian_label_columns(quasi_identifier, number) -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {{ dbt_anonymize._interval_label_columns(quasi_identifier, number) }}
    {%- else -%}
        {{ dbt_anonymize._categorical_label_columns(quasi_identifier, number) }}
    {%- endif -%}
{%- endmacro %}


{# The lowest level that has this very interval; between two levels, its ends as the hierarchy writes them. #}
{% macro _interval_label_columns(quasi_identifier, number) -%}
{%- set name, top, hierarchy = quasi_identifier.name, quasi_identifier.levels, quasi_identifier.hierarchy -%}
{%- set lowest, highest = "parts.lowest_" ~ number, "parts.highest_" ~ number -%}
{%- set lower, upper, whole = "lower_" ~ number, "upper_" ~ number, "domain_" ~ number -%}
{%- set first_leaf, last_leaf = lower ~ ".level_1", upper ~ ".level_1" -%}
{%- set from_bound, to_bound = lower ~ ".leaf", upper ~ ".upper_bound" -%}
{%- set is_root -%}
{{ lowest }} = 0 or ({{ lowest }} = 1 and {{ highest }} = {{ whole }}.last_code)
{%- endset -%}
case
            when {{ is_root }} then '*'
            {%- for level in range(1, top) %}
            when {{ lower }}.first_{{ level }} = {{ lowest }} and {{ lower }}.last_{{ level }} = {{ highest }}
                then {{ lower }}.level_{{ level }}
            {%- endfor %}
            {%- for notation, label in dbt_anonymize._labels_between(first_leaf, last_leaf).items() %}
            when {{ whole }}.notation = '{{ notation }}'
                then {{ label }}
            {%- endfor %}
            else {{ dbt.concat([
                "'['", dbt_anonymize._as_text(from_bound), "', '", dbt_anonymize._as_text(to_bound), "')'"
            ]) }}
        end as {{ dbt_anonymize._quote(name) }},
        coalesce({{ from_bound }}, {{ whole }}.range_lower) as {{ dbt_anonymize._quote(name ~ "_lower") }},
        case
            when {{ lowest }} = 0 then {{ whole }}.range_upper
            else {{ to_bound }}
        end as {{ dbt_anonymize._quote(name ~ "_upper") }},
        cast(case
            when {{ is_root }} then {{ top }}
            {%- for level in range(1, top) %}
            when {{ lower }}.first_{{ level }} = {{ lowest }} and {{ lower }}.last_{{ level }} = {{ highest }}
                then {{ level }}
            {%- endfor %}
        end as {{ dbt.type_int() }}) as {{ dbt_anonymize._quote(name ~ "_level") }},
        case
            when {{ is_root }} then cast(1 as {{ dbt_anonymize._type_double() }})
            else
                {{ dbt_anonymize._width(from_bound, to_bound, hierarchy) }}
                / {{ dbt_anonymize._width(whole ~ ".range_lower", whole ~ ".range_upper", hierarchy) }}
        end as {{ dbt_anonymize._quote(name ~ "_share") }}
{%- endmacro %}


{# The lowest label that covers the part. A label * below the root, as priority hierarchies have, says as little. #}
{% macro _categorical_label_columns(quasi_identifier, number) -%}
{%- set name, top = quasi_identifier.name, quasi_identifier.levels -%}
{%- set lowest, highest, lower = "parts.lowest_" ~ number, "parts.highest_" ~ number, "lower_" ~ number -%}
{%- set double = dbt_anonymize._type_double() -%}
case
            when {{ lowest }} = 0 then '*'
            when {{ highest }} = {{ lowest }} then {{ lower }}.leaf
            {%- for level in range(1, top) %}
            when {{ highest }} <= {{ lower }}.last_{{ level }} then {{ lower }}.level_{{ level }}
            {%- endfor %}
            else '*'
        end as {{ dbt_anonymize._quote(name) }},
        cast(case
            when {{ lowest }} = 0 then {{ top }}
            when {{ highest }} = {{ lowest }} then 0
            {%- for level in range(1, top) %}
            when {{ highest }} <= {{ lower }}.last_{{ level }} and {{ lower }}.level_{{ level }} <> '*' then {{ level }}
            {%- endfor %}
            else {{ top }}
        end as {{ dbt.type_int() }}) as {{ dbt_anonymize._quote(name ~ "_level") }},
        case
            when {{ lowest }} = 0 then cast(1 as {{ double }})
            {%- for level in range(top) %}
            when {{ highest }} <= {{ lower }}.last_{{ level }}
                {{- " and " ~ lower ~ ".level_" ~ level ~ " <> '*'" if level }}
                then
                    cast({{ lower }}.last_{{ level }} - {{ lower }}.first_{{ level }} + 1 as {{ double }})
                    / domain_{{ number }}.leaves
            {%- endfor %}
            else 1
        end as {{ dbt_anonymize._quote(name ~ "_share") }}
{%- endmacro %}


{#
  How the leaves are written, so that what is between two of them is written alike and sorts as text where they do:
  `brackets` [05, 10), where zero may stand by itself; `numbers` 05, 05-09 or 8+; `texts`, others that begin with a
  digit and sort, such as 2024-Q1; else by their bounds.
#}
{% macro _notation_of_leaves() -%}
{%- set lower = dbt_anonymize._side_of_label("level_1", 1) -%}
{%- set upper = dbt_anonymize._side_of_label("level_1", 2) -%}
{%- set first_sign = "translate(substr(level_1, 1, 1), '0123456789', '')" -%}
case
    when
        count(*) = count(distinct {{ lower }})
        and count(*) = count(distinct coalesce({{ upper }}, ''))
        and count(*) = sum(
            case
                when level_1 = '0' and code = 1 then 1
                when
                    level_1 = {{ dbt_anonymize._on_one_line(dbt.concat([lower, "', '", upper])) }}
                    and level_1 like '[%'
                    and level_1 like '%)'
                    then 1
                else 0
            end
        )
        then 'brackets'
    when count(*) > sum(case when code = place and {{ first_sign }} = '' then 1 else 0 end)
        then 'bounds'
    when count(*) = sum(case when translate(level_1, '0123456789', '') in ('', '-', '+') then 1 else 0 end)
        then 'numbers'
    else 'texts'
end
{%- endmacro %}


{# The label from a leaf to another, for each notation. #}
{% macro _labels_between(first, last) -%}
    {%- set start = "case when " ~ first ~ " = '0' then '[0' else "
        ~ dbt_anonymize._side_of_label(first, 1) ~ " end" -%}
    {%- set end = "case when " ~ last ~ " like '%+' then '+' when " ~ last ~ " like '%-%' then "
        ~ dbt_anonymize._on_one_line(dbt.concat(["'-'", dbt_anonymize._side_of_label(last, 2, "-")]))
        ~ " else " ~ dbt_anonymize._on_one_line(dbt.concat(["'-'", last])) ~ " end" -%}
    {{ return({
        "brackets": dbt.concat([start, "', '", dbt_anonymize._side_of_label(last, 2)]),
        "numbers": dbt.concat([dbt_anonymize._side_of_label(first, 1, "-"), end]),
        "texts": dbt.concat([first, "' - '", last]),
    }) }}
{%- endmacro %}


{% macro _side_of_label(label, side, between=", ") -%}
    {{ return(adapter.dispatch("_side_of_label", "dbt_anonymize")(label, side, between)) }}
{%- endmacro %}

{% macro default___side_of_label(label, side, between) -%}
    {{ return(dbt_anonymize._on_one_line(dbt.split_part(label, "'" ~ between ~ "'", side))) }}
{%- endmacro %}


{# The same columns with everything generalized to the root: what is shown of a recoding that is not built. #}
{% macro _at_root(microdata, plan) -%}
with

{%- for quasi_identifier in plan.quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}

range_{{ loop.index }} as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from {{ quasi_identifier.hierarchy }}

),
{%- endif %}
{%- endfor %}

microdata as (

    select * from {{ microdata }}

)

select
    {{ dbt_anonymize._quote(plan.record_key, "microdata") }}
    {%- for quasi_identifier in plan.quasi_identifiers %},
    {%- set name = quasi_identifier.name %}
    {{ dbt_anonymize._as_text("'*'") }} as {{ dbt_anonymize._quote(name) }},
    {%- if quasi_identifier.kind == "interval" %}
    range_{{ loop.index }}.range_lower as {{ dbt_anonymize._quote(name ~ "_lower") }},
    range_{{ loop.index }}.range_upper as {{ dbt_anonymize._quote(name ~ "_upper") }},
    {%- endif %}
    cast({{ quasi_identifier.levels }} as {{ dbt.type_int() }}) as {{ dbt_anonymize._quote(name ~ "_level") }},
    cast(1 as {{ dbt_anonymize._type_double() }}) as {{ dbt_anonymize._quote(name ~ "_share") }}
    {%- endfor %}
from microdata
{%- for quasi_identifier in plan.quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}
cross join range_{{ loop.index }}
{%- endif %}
{%- endfor %}
{%- endmacro %}
