{# Sweeney 2002: every class has at least k subjects. #}
{% macro k_anonymity(relation, quasi_identifiers, k, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("k_anonymity", {"k": [k, "an integer >= 2"]}) -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, subject=subject) }}
{%- endmacro %}


{#- A release declares k and its quasi-identifiers: its test has no arguments, so dbt knows it when they change. -#}
{% test k_anonymity(model, k=none, quasi_identifiers=none, subject=none) %}
{%- set required = dbt_anonymize._required_k("the declared number of" if k is none else k) %}
{{ dbt_anonymize._explain_failures("k_anonymity", {}, required) }}
{%- if k is none and quasi_identifiers is none -%}
    {%- set declaration = dbt_anonymize._declaration_of_release() -%}
    {%- set k, quasi_identifiers = declaration.k, declaration.quasi_identifiers -%}
{%- endif -%}
{#- Class sizes only: a failing test must not copy anybody's quasi-identifiers into a log or a table. -#}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.k_anonymity(model, quasi_identifiers, k, subject),
    ["class_size", "records"],
    model,
    [subject],
) }}
{% endtest %}


{% macro _k_anonymity_model(guarantee) -%}
    {{ return({
        "conditions": ["class_size < " ~ guarantee.k],
        "in_release": guarantee,
        "in_release_of_subjects": guarantee,
        "requires": dbt_anonymize._required_k(guarantee.k),
    }) }}
{%- endmacro %}


{% macro _required_k(k) -%}
    {{ return("at least " ~ k ~ " records in each equivalence class") }}
{%- endmacro %}
