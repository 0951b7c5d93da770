{# An expression that stops the statement when a row reaches it. Adapters without one do not compile. #}
{% macro _raise_in_sql(message) -%}
    {{ return(adapter.dispatch("_raise_in_sql", "dbt_anonymize")(message)) }}
{%- endmacro %}

{% macro default___raise_in_sql(message) -%}
    {{ exceptions.raise_compiler_error("dbt_anonymize does not support the adapter " ~ target.type ~ " yet: it has no expression that raises an error.") }}
{%- endmacro %}

{% macro duckdb___raise_in_sql(message) -%}
    {{ return("error(" ~ dbt_anonymize._literal(message) ~ ")") }}
{%- endmacro %}
