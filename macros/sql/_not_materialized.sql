{# Computing a small generalization twice is cheaper than keeping every row of it: 1 GB against 12 GB at 100 M rows. #}
{% macro _not_materialized() -%}
    {{ return(adapter.dispatch("_not_materialized", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___not_materialized() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___not_materialized() -%}{{ return("not materialized ") }}{%- endmacro %}
