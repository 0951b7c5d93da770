{# A text as its bytes, so that a collation cannot make two texts one class that everybody sees as two. #}
{% macro _as_bytes(expression) -%}
    {{ return(adapter.dispatch("_as_bytes", "dbt_anonymize")(expression)) }}
{%- endmacro %}

{% macro default___as_bytes(expression) -%}{{ return(expression) }}{%- endmacro %}

{% macro duckdb___as_bytes(expression) -%}{{ return("encode(" ~ expression ~ ")") }}{%- endmacro %}
