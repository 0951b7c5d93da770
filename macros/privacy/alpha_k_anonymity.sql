{# Wong et al. 2006: every class has at least k people, and no value has a share above alpha in it. #}
{% macro alpha_k_anonymity(relation, quasi_identifiers, attribute, alpha, k, values=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "alpha_k_anonymity", {"attribute": attribute, "alpha": alpha, "k": k, "values": values}
) -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, {"highest_share": "attribute_limited_share" if values else "attribute_highest_share"}, subject
) }}
{%- endmacro %}
