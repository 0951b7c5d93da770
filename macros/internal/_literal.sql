{# The one place where a text becomes an SQL string literal. #}
{% macro _literal(value) -%}
    {{ return(dbt.string_literal(dbt.escape_single_quotes(value | string))) }}
{%- endmacro %}
