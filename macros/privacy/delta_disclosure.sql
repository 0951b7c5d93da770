{# Brickell and Shmatikov 2008: in no class the share of a value changes by a factor of 2^delta or more. #}
{% macro delta_disclosure(relation, quasi_identifiers, attribute, delta, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("delta_disclosure", {
    "attribute": [attribute, "the name of a column"],
    "delta": [delta, "a number > 0"],
}) -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, {"delta": "attribute_delta"}, subject) }}
{%- endmacro %}


{% test delta_disclosure(model, attribute, delta, quasi_identifiers, subject=none) %}
{{ dbt_anonymize._explain_failures("delta_disclosure", {"attribute": attribute, "delta": delta}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.delta_disclosure(model, quasi_identifiers, attribute, delta, subject),
    ["class_size", "records", "delta"],
    model,
    [attribute, subject],
) }}
{% endtest %}


{# NULL where the class lacks a value of the whole table, or the table one of the class: the change is infinite. #}
{% macro _delta_disclosure_model(guarantee) -%}
    {#- Share in the class / share in the table, as one division of exact numbers. -#}
    {%- set ratio = "subjects * table_subjects / (class_subjects * table_value_subjects)" -%}
    {%- set is_finite = "min(table_value_subjects) > 0 and count(*) = max(number_of_values)" -%}
    {%- set sql = "case when " ~ is_finite ~ " then max(abs(ln(" ~ ratio ~ "))) / ln(2) end" -%}
    {%- set measure = dbt_anonymize._measure("delta", ">=", guarantee.delta, sql) -%}
    {{ return({"measures": [dict(measure, is_rounded=true, is_infinite_if_null=true)], "in_release": guarantee}) }}
{%- endmacro %}
