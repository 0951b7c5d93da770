{# dbt.type_float is single precision on some engines; measures need double. #}
{% macro _type_double() -%}
    {{ return(adapter.dispatch("_type_double", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___type_double() -%}{{ return("double precision") }}{%- endmacro %}

{% macro duckdb___type_double() -%}{{ return("double") }}{%- endmacro %}
