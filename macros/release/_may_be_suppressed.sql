{# The most records that may be suppressed, as SQL: decimal there, where 0.29 of 100 is 29 and not a little less. #}
{% macro _may_be_suppressed(suppression_limit, records) -%}
    {{ return("floor(" ~ dbt_anonymize._number(suppression_limit) ~ " * " ~ records ~ ")") }}
{%- endmacro %}
