{# Before statements that read every record, in their transaction: what the engine must be told of them. #}
{% macro _expect_many_rows() -%}
    {%- if dbt_anonymize._is_building() -%}
        {%- do adapter.dispatch("_expect_many_rows", "dbt_anonymize")() -%}
    {%- endif -%}
{%- endmacro %}

{% macro default___expect_many_rows() -%}{%- endmacro %}
