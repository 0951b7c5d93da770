{# The select list of one rule: what it says, its level (none for the leaves), and how often it is broken. #}
{% macro _violation(rule, level, violations) -%}
select
        {{ dbt_anonymize._literal(rule) }} as rule,
        {{ "cast(null as integer)" if level is none else level }} as level,
        {{ violations }} as violations
{%- endmacro %}
