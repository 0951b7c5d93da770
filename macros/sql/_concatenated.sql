{# Texts of which none is NULL as one. On DuckDB and Postgres each `||` writes the text anew, `concat` once. #}
{% macro _concatenated(texts) -%}
    {{ return(adapter.dispatch("_concatenated", "dbt_anonymize")(texts)) }}
{%- endmacro %}

{% macro default___concatenated(texts) -%}{{ return(dbt.concat(texts)) }}{%- endmacro %}

{% macro duckdb___concatenated(texts) -%}{{ return("concat(" ~ texts | join(", ") ~ ")") }}{%- endmacro %}
