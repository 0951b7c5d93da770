{% macro effort(effort, microdata, record_key, quasi_identifiers, kept_columns, guarantees, suppression_limit) -%}
{{ config(materialized="view") }}
{#- Effort 0 is the untouched baseline: nothing is suppressed in it, and nothing is released from it. -#}
{%- set k = dbt_anonymize._required_k(guarantees) if effort > 0 else none -%}
{%- set columns = [record_key] + kept_columns -%}
with

microdata as (

    select * from {{ microdata }}

),
{{- dbt_anonymize.generalize("microdata", quasi_identifiers, columns) }}

{{ dbt_anonymize.class_sizes(quasi_identifiers, k, suppression_limit) }}

effort as (

    select
        {{ dbt_anonymize._quote(record_key, "generalized") }},
        {%- for quasi_identifier in quasi_identifiers %}
        {%- for column in dbt_anonymize._label_columns(quasi_identifier) %}
        {{ dbt_anonymize._quote(column, "generalized") }},
        {%- endfor %}
        {%- endfor %}
        {%- for column in kept_columns %}
        {{ dbt_anonymize._quote(column, "generalized") }},
        {%- endfor %}
        {{ dbt_anonymize.equivalence_class(quasi_identifiers, "generalized") }} as equivalence_class,
        classes.class_size,
        {%- if k is none %}
        false as is_suppressed
        {%- else %}
        classes.class_size < {{ k }} and suppression.is_within_limit as is_suppressed
        {%- endif %}
    from generalized
    inner join classes
        on
        {%- for quasi_identifier in quasi_identifiers %}
            {{ "and " if not loop.first }}
            {{- dbt_anonymize._quote(quasi_identifier.name, "generalized") }} = {{ dbt_anonymize._quote(quasi_identifier.name, "classes") }}
        {%- endfor %}
    {%- if k is not none %}
    cross join suppression
    {%- endif %}

)

select * from effort
{%- endmacro %}


{# The columns that a quasi-identifier has once it is generalized. #}
{% macro _label_columns(quasi_identifier) -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {{ return([quasi_identifier.name, quasi_identifier.name ~ "_lower", quasi_identifier.name ~ "_upper"]) }}
    {%- endif -%}
    {{ return([quasi_identifier.name]) }}
{%- endmacro %}
