{% macro effort(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "effort", "microdata", "classes", "record_key", "quasi_identifiers", "kept_columns",
], {"recoding": none, "masked": [], "share": none, "shown": none}) -%}
{{ config(materialized="view") }}
{#- Where the microdata hold what is released of each kept column. -#}
{%- set shown = [] -%}
{%- for column in given.kept_columns -%}
    {%- do shown.append(column ~ "_masked" if column in given.masked else column) -%}
{%- endfor -%}
{{ dbt_anonymize._records_of_effort(given, shown, given.kept_columns) }}

{% if given.shown -%}
{{ dbt_anonymize._with_aggregates(given) }}
{%- else -%}
select * from effort
{%- endif %}
{%- endmacro %}


{# CTEs that end in `effort`: every record with its labels, its class, and columns of the microdata, which are `shown`
   there. #}
{% macro _records_of_effort(given, shown, kept_columns) -%}
with

microdata as (

    select * from {{ given.microdata }}

),
{%- if given.recoding %}

{{ dbt_anonymize._recoded_rows("generalized", given.recoding, given.record_key, given.quasi_identifiers, shown) }}
{%- else %}
{{- dbt_anonymize.generalize("microdata", given.quasi_identifiers,
    [given.record_key] + shown + (["sample_share"] if given.share else [])) }}
{%- endif %}

classes as (

    select
        effort,
        {%- for quasi_identifier in given.quasi_identifiers %}
        {{ dbt_anonymize._quote(quasi_identifier.name) }},
        {%- endfor %}
        equivalence_class,
        class_size,
        is_suppressed
    from {{ given.classes }}
    where effort = {{ given.effort }}

),

effort as (

    select
        {{ dbt_anonymize._quote(given.record_key, "generalized") }},
        {%- for quasi_identifier in given.quasi_identifiers %}
        {%- for column in dbt_anonymize._label_columns(quasi_identifier) %}
        {{ dbt_anonymize._quote(column, "generalized") }},
        {%- endfor %}
        {%- if given.recoding %}
        {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level", "generalized") }},
        {%- endif %}
        {%- endfor %}
        {%- for column in shown %}
        {{ dbt_anonymize._quote(column, "generalized") }}
        {{- " as " ~ dbt_anonymize._quote(kept_columns[loop.index0]) if column not in kept_columns }},
        {%- endfor %}
        {%- for column in ["equivalence_class", "class_size", "is_suppressed"] %}
        case
            {%- if given.share %}
            when not generalized.{{ dbt_anonymize._is_sampled(given.share) }}
                then {{ "true" if column == "is_suppressed" else "null" }}
            {%- endif %}
            when classes.effort is null
                then {{ dbt_anonymize._raise_in_sql(
                    model.name ~ ": the equivalence class of a record is not in " ~ given.classes.identifier
                    ~ ". Build again from the microdata on.",
                    "classes." ~ column
                ) }}
            else classes.{{ column }}
        end as {{ column }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ dbt_anonymize._apart("generalized") }}
    left join {{ dbt_anonymize._apart("classes") }}
        on
            {{ dbt_anonymize._equal_quoted("generalized", "classes", given.quasi_identifiers | map(attribute="name"))
                | join("\n            and ") }}
            {%- if given.share %}
            and generalized.{{ dbt_anonymize._is_sampled(given.share) }}
            {%- endif %}

)
{%- endmacro %}


{# The columns that a quasi-identifier has once it is generalized. #}
{% macro _label_columns(quasi_identifier) -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {{ return([quasi_identifier.name, quasi_identifier.name ~ "_lower", quasi_identifier.name ~ "_upper"]) }}
    {%- endif -%}
    {{ return([quasi_identifier.name]) }}
{%- endmacro %}


{# CTE with one row per record of an effort whose level differs per record: labels, bounds and levels from the
   recoding. #}
{% macro _recoded_rows(name, recoding, record_key, quasi_identifiers, columns) -%}
{{ name }} as {{ dbt_anonymize._not_materialized() }}(

    select
        {{ dbt_anonymize._quote(record_key, "microdata") }},
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column, "microdata") }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- for column in dbt_anonymize._label_columns(quasi_identifier) %}
        {{ dbt_anonymize._quote(column, "recoding") }},
        {%- endfor %}
        {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level", "recoding") }}{{ "," if not loop.last }}
        {%- endfor %}
    from microdata
    {#- A record that the recoding lost has no label, and so no class: the effort stops. #}
    left join {{ recoding }} as recoding
        on {{ dbt_anonymize._quote(record_key, "microdata") }} = {{ dbt_anonymize._quote(record_key, "recoding") }}

),
{%- endmacro %}
