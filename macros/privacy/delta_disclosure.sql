{# Brickell and Shmatikov 2008: the share of no value of the relation changes by a factor of 2^delta or more in any class. #}
{% macro delta_disclosure(relation, quasi_identifiers, attribute, delta, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("delta_disclosure", {"attribute": attribute, "delta": delta}) -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, {"delta": "attribute_delta"}, subject) }}
{%- endmacro %}
