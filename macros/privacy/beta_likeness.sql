{# Cao and Karras 2012: no value gains more than beta, relative to its share in the whole relation, in any class. #}
{% macro beta_likeness(relation, quasi_identifiers, attribute, beta, variant="enhanced", subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("beta_likeness", {"attribute": attribute, "beta": beta, "variant": variant}) -%}
{%- set measure = {"basic": "beta", "enhanced": "enhanced_beta"}[variant] -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, {measure: "attribute_" ~ measure}, subject) }}
{%- endmacro %}
