{# Li et al. 2007: in every class the attribute is distributed almost as in the whole relation. #}
{% macro t_closeness(relation, quasi_identifiers, attribute, t, distance="equal", hierarchy=none, levels=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("t_closeness", {"attribute": attribute, "t": t, "distance": distance}) -%}
{%- if distance == "hierarchical" and (hierarchy is none or levels is not integer or levels < 1) -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": t_closeness must have `hierarchy` (a relation) and `levels` (an integer >= 1) where the distance is hierarchical; got: "
        ~ hierarchy ~ " and " ~ levels ~ ". Correct the arguments of t_closeness."
    ) }}
{%- endif -%}
{%- set measure = {"equal": "t", "ordered": "ordered_t", "hierarchical": "hierarchical_t"}[distance] -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, {"t": "attribute_" ~ measure}, subject,
    hierarchy=hierarchy if distance == "hierarchical" else none, levels=levels,
) }}
{%- endmacro %}
