{# An expression that stops the statement when a row reaches it. It has the type of another expression, since engines
   with strict types ask for one. Adapters without one do not compile. #}
{% macro _raise_in_sql(message, like) -%}
    {{ return(adapter.dispatch("_raise_in_sql", "dbt_anonymize")(message, like)) }}
{%- endmacro %}

{% macro default___raise_in_sql(message, like) -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize does not support the adapter " ~ target.type ~ " yet: it has no expression that raises an error."
    ) }}
{%- endmacro %}

{% macro duckdb___raise_in_sql(message, like) -%}
    {{ return("error(" ~ dbt_anonymize._literal(message) ~ ")") }}
{%- endmacro %}

{# Postgres shows a text that is no number. Nothing of the column is in it, but without a column it would be read while
   the statement is planned, before there is any row. #}
{% macro postgres___raise_in_sql(message, like) -%}
    {%- set nothing = "left(coalesce(" ~ dbt_anonymize._as_text(like) ~ ", ''), 0)" -%}
    {%- set text = dbt_anonymize._literal(message) ~ " || " ~ nothing -%}
    {{ return("case when cast(" ~ text ~ " as integer) is null then " ~ like ~ " end") }}
{%- endmacro %}
