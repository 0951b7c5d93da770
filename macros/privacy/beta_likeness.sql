{# Cao and Karras 2012: no value gains more than beta, relative to its share in the whole relation, in any class. #}
{% macro beta_likeness(relation, quasi_identifiers, attribute, beta, variant="enhanced", subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("beta_likeness", {
    "attribute": [attribute, "the name of a column"],
    "beta": [beta, "a number > 0"],
    "variant": [variant, ["basic", "enhanced"]],
}) -%}
{%- set measure = {"basic": "beta", "enhanced": "enhanced_beta"}[variant] -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, {measure: "attribute_" ~ measure}, subject
) }}
{%- endmacro %}


{% test beta_likeness(model, attribute, beta, quasi_identifiers, variant="enhanced", subject=none) %}
{{ dbt_anonymize._explain_failures("beta_likeness", {"attribute": attribute, "beta": beta, "variant": variant}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.beta_likeness(model, quasi_identifiers, attribute, beta, variant, subject),
    ["class_size", "records", {"basic": "beta", "enhanced": "enhanced_beta"}[variant]],
    model,
    [attribute, subject],
) }}
{% endtest %}


{# NULL where a value of the class is not in the whole table: its gain is infinite. #}
{% macro _beta_likeness_model(guarantee) -%}
    {%- set beta = guarantee.beta -%}
    {%- set theirs = "class_subjects * table_value_subjects" -%}
    {%- set gain = "(subjects * table_subjects - " ~ theirs ~ ") / (" ~ theirs ~ ")" -%}
    {%- if guarantee.variant == "basic" -%}
        {%- set sql = "case when min(table_value_subjects) > 0 then max(" ~ gain ~ ") end" -%}
        {%- set measure = dbt_anonymize._measure("beta", ">", beta, sql) -%}
    {%- else -%}
        {%- set limit = "cast(" ~ dbt_anonymize._number(beta) ~ " as " ~ dbt_anonymize._type_double() ~ ")" -%}
        {%- set bound = "least(" ~ limit ~ ", ln(table_subjects / table_value_subjects))" -%}
        {%- set sql = "case when min(table_value_subjects) > 0 then max(" ~ gain ~ " - " ~ bound ~ ") end" -%}
        {%- set measure = dbt_anonymize._measure("enhanced_beta", ">", 0, sql, beta) -%}
    {%- endif -%}
    {{ return({"measures": [dict(measure, is_infinite_if_null=true)], "in_release": guarantee}) }}
{%- endmacro %}
