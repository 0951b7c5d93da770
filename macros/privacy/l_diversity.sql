{# Machanavajjhala et al. 2007: every class has at least l well-represented values. #}
{% macro l_diversity(relation, quasi_identifiers, attribute, l, variant="distinct", c=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("l_diversity", {"attribute": attribute, "l": l, "variant": variant, "c": c}) -%}
{%- set measure = {"distinct": "distinct_l", "entropy": "entropy_l", "grassberger": "grassberger_l", "recursive": "recursive_c"}[variant] -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, {measure: "attribute_" ~ measure}, subject) }}
{%- endmacro %}
