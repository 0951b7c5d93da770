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
        {{ dbt_anonymize._has_bracket_notation() | indent(8) }} as has_bracket_notation
    {%- else -%}
    select count(*) as leaves
    {%- endif %}
    from {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }}

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


{# The lowest level that has this very interval; between two levels, its bounds as the hierarchy writes them. #}
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
            when {{ whole }}.has_bracket_notation = 1
                then {{ dbt.concat([
                    dbt_anonymize._side_of_label(first_leaf, 1), "', '", dbt_anonymize._side_of_label(last_leaf, 2)
                ]) }}
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


{# Whether all leaves are written `[lower, upper)`: the ends of two of them then make the label of what is between. #}
{% macro _has_bracket_notation() -%}
{%- set lower = dbt_anonymize._side_of_label("level_1", 1) -%}
{%- set upper = dbt_anonymize._side_of_label("level_1", 2) -%}
case
    when
        count(*) = count(distinct {{ lower }})
        and count(*) = count(distinct {{ upper }})
        and count(*) = sum(
            case
                when
                    level_1 = {{ dbt_anonymize._on_one_line(dbt.concat([lower, "', '", upper])) }}
                    and level_1 like '[%'
                    and level_1 like '%)'
                    then 1
                else 0
            end
        )
        then 1
    else 0
end
{%- endmacro %}


{% macro _side_of_label(label, side) -%}
    {{ return(adapter.dispatch("_side_of_label", "dbt_anonymize")(label, side)) }}
{%- endmacro %}

{% macro default___side_of_label(label, side) -%}
    {{ return(dbt_anonymize._on_one_line(dbt.split_part(label, "', '", side))) }}
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
