{# The one place where a column name becomes SQL: adapter.quote does not escape quotes inside a name. #}
{% macro _quote(name, relation_alias=none) -%}
    {{ return(adapter.dispatch("_quote", "dbt_anonymize")(name, relation_alias)) }}
{%- endmacro %}

{% macro default___quote(name, relation_alias=none) -%}
    {%- set quoted = adapter.quote(name | replace('"', '""')) -%}
    {{ return(relation_alias ~ "." ~ quoted if relation_alias else quoted) }}
{%- endmacro %}
