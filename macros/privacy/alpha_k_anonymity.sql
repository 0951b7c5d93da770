{# Wong et al. 2006: every class has at least k subjects, and no value has a share above alpha in it. #}
{% macro alpha_k_anonymity(relation, quasi_identifiers, attribute, alpha, k, values=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("alpha_k_anonymity", {
    "attribute": [attribute, "the name of a column"],
    "alpha": [alpha, "a number > 0 and < 1"],
    "k": [k, "an integer >= 2"],
    "values": [values, "a list of at least one value or none"],
}) -%}
{%- set measure = "attribute_limited_share" if values else "attribute_highest_share" -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, {"highest_share": measure}, subject) }}
{%- endmacro %}


{% test alpha_k_anonymity(model, attribute, alpha, k, quasi_identifiers, values=none, subject=none) %}
{{ dbt_anonymize._explain_failures("alpha_k_anonymity", {"attribute": attribute, "alpha": alpha, "k": k}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.alpha_k_anonymity(model, quasi_identifiers, attribute, alpha, k, values, subject),
    ["class_size", "records", "highest_share"],
    model,
    [attribute, subject],
) }}
{% endtest %}


{% macro _alpha_k_anonymity_model(guarantee) -%}
    {%- set alpha, values = guarantee.alpha, guarantee.get("values") -%}
    {%- set sql = "max(subjects) / max(class_size)" -%}
    {%- if values -%}
        {%- set limited = dbt_anonymize._limited_values(values) | join(", ") -%}
        {%- set is_limited = dbt_anonymize._as_text("value") ~ " in (" ~ limited ~ ")" -%}
        {%- set sql = "coalesce(max(case when " ~ is_limited ~ " then subjects end), 0) / max(class_size)" -%}
    {%- endif -%}
    {%- set kind = "limited_share" if values else "highest_share" -%}
    {{ return({
        "conditions": ["class_size < " ~ guarantee.k],
        "measures": [dbt_anonymize._measure(kind, ">", alpha, sql, values, needs=["class_size"])],
        "in_release": guarantee,
        "in_release_of_subjects": {"model": "k_anonymity", "k": guarantee.k},
        "least_values": 0 if values or not alpha else 1 / alpha,
        "too_few_values":
            "alpha_k_anonymity requires that no value of " ~ guarantee.attribute ~ " has a share above " ~ alpha
            ~ ", which <values> values cannot keep. Raise alpha to at least 1/<values>.",
    }) }}
{%- endmacro %}


{# The values whose share is limited, as literals of their text. #}
{% macro _limited_values(values) -%}
    {%- set limited = [] -%}
    {%- for value in values -%}
        {%- do limited.append(dbt_anonymize._literal(value | string | lower if value is boolean else value)) -%}
    {%- endfor -%}
    {{ return(limited) }}
{%- endmacro %}
