{# Sweeney 2002: every class has at least k people. #}
{% macro k_anonymity(relation, quasi_identifiers, k, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("k_anonymity", {"k": k}) -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, subject=subject) }}
{%- endmacro %}
