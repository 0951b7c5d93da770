{# An expression that stops the statement when a row reaches it. It has the type of another expression, since engines
   with strict types ask for one. Adapters without one do not compile. #}
{% macro _raise_in_sql(message, like) -%}
    {{ return(adapter.dispatch("_raise_in_sql", "dbt_anonymize")(message, like)) }}
{%- endmacro %}

{% macro default___raise_in_sql(message, like) -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: " ~ (
            dbt_anonymize._missing_engine()
            or "the adapter " ~ target.type ~ " is not supported yet: it has no expression that raises an error."
        )
    ) }}
{%- endmacro %}

{% macro duckdb___raise_in_sql(message, like) -%}
    {{ return("error(" ~ dbt_anonymize._literal(message) ~ ")") }}
{%- endmacro %}
