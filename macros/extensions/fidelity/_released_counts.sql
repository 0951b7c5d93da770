{# CTE `released`: the released records of every effort, counted by what they show of each attribute. NULL has no
   bounds, and `*` has no lower one; level -1 is `*` of whichever level. #}
{% macro _released_counts(efforts, quasi_identifiers, columns) -%}
released as (
    {%- for number, effort in efforts.items() %}
    {%- set shown, keys = [], [] %}
    {%- for quasi_identifier in quasi_identifiers %}
    {%- do shown.extend(dbt_anonymize._shown_label(loop.index, quasi_identifier, effort.levels)) %}
    {%- do keys.extend(dbt_anonymize._shown_columns(quasi_identifier, effort.levels)) %}
    {%- endfor %}
    {%- for column in columns %}
    {%- set name = dbt_anonymize._quote(column) %}
    {%- do keys.append(name) %}
    {%- do shown.append(dbt_anonymize._as_text(name) ~ " as value_" ~ (quasi_identifiers | length + loop.index)) %}
    {%- endfor %}

    select
        {{ number }} as effort,
        {{ shown | join(",\n        ") }},
        count(*) as records
    from {{ effort.relation }}
    where not is_suppressed
    group by
        {{ keys | join(",\n        ") }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}


{# What the label of a record is told by: the columns of an effort. #}
{% macro _shown_columns(quasi_identifier, levels) -%}
    {%- set name, quoted = quasi_identifier.name, [] -%}
    {%- do quoted.append(dbt_anonymize._quote(name)) -%}
    {%- if not levels -%}{%- do quoted.append(dbt_anonymize._quote(name ~ "_level")) -%}{%- endif -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {%- do quoted.extend([dbt_anonymize._quote(name ~ "_lower"), dbt_anonymize._quote(name ~ "_upper")]) -%}
    {%- endif -%}
    {{ return(quoted) }}
{%- endmacro %}


{# The label as `lower_<i>` and `upper_<i>`, or as `text_<i>` and `level_<i>`. #}
{% macro _shown_label(i, quasi_identifier, levels) -%}
    {%- set name = quasi_identifier.name -%}
    {%- set label = dbt_anonymize._quote(name) -%}
    {%- set level = levels[name] if levels else dbt_anonymize._quote(name ~ "_level") -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {%- set lower, upper = dbt_anonymize._quote(name ~ "_lower"), dbt_anonymize._quote(name ~ "_upper") -%}
        {%- set known = label ~ " <> '*'" -%}
        {%- if not levels -%}
            {%- set upper = "case when " ~ known ~ " or coalesce(" ~ level ~ ", 1) > 0 then " ~ upper ~ " end" -%}
        {%- elif level == 0 -%}
            {%- set upper = "case when " ~ known ~ " then " ~ upper ~ " end" -%}
        {%- endif -%}
        {{ return(["case when " ~ known ~ " then " ~ lower ~ " end as lower_" ~ i, upper ~ " as upper_" ~ i]) }}
    {%- endif -%}
    {%- if not levels -%}
        {%- set shown = (
            "case when " ~ label ~ " = '*' and coalesce(" ~ level ~ ", 1) > 0 then -1 else " ~ level ~ " end"
        ) -%}
    {%- else -%}
        {%- set shown = "case when " ~ label ~ " = '*' then -1 else " ~ level ~ " end" if level else level -%}
    {%- endif -%}
    {{ return([label ~ " as text_" ~ i, shown ~ " as level_" ~ i]) }}
{%- endmacro %}
