{# Machanavajjhala et al. 2007: every class has at least l well-represented values. #}
{% macro l_diversity(relation, quasi_identifiers, attribute, l, variant="distinct", c=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "l_diversity",
    {
        "attribute": [attribute, "the name of a column"],
        "l": [l, "an integer >= 2" if variant in ["distinct", "recursive"] else "a number > 1"],
        "variant": [variant, ["distinct", "entropy", "grassberger", "recursive"]],
        "c": [c, "a number > 0 or none"],
    },
    [[(variant == "recursive") == (c is not none), "have `c` if and only if the variant is recursive"]],
) -%}
{%- set measure = dbt_anonymize._measure_of_diversity(variant) -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, {measure: "attribute_" ~ measure}, subject
) }}
{%- endmacro %}


{% test l_diversity(model, attribute, l, quasi_identifiers, variant="distinct", c=none, subject=none) %}
{{ dbt_anonymize._explain_failures("l_diversity", {"attribute": attribute, "l": l, "variant": variant, "c": c}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.l_diversity(model, quasi_identifiers, attribute, l, variant, c, subject),
    ["class_size", "records", dbt_anonymize._measure_of_diversity(variant)],
    model,
    [attribute, subject],
) }}
{% endtest %}


{% macro _l_diversity_model(guarantee) -%}
    {%- set l, variant = guarantee.l, guarantee.variant or "distinct" -%}
    {%- set distinct = dict(
        dbt_anonymize._measure("distinct_l", "<", l, "cast(count(*) as " ~ dbt.type_bigint() ~ ")"), worst="min"
    ) -%}
    {%- set measures = [distinct] if variant in ["distinct", "grassberger"] else [] -%}
    {%- if variant == "entropy" -%}
        {%- set sql = "exp(ln(max(class_subjects)) - sum(subjects * ln(subjects)) / max(class_subjects))" -%}
        {%- do measures.append(dict(dbt_anonymize._measure("entropy_l", "<", l, sql), is_rounded=true, worst="min")) -%}
    {%- elif variant == "grassberger" -%}
        {%- set whole = dbt_anonymize._grassberger("max(class_subjects)") -%}
        {%- set part = dbt_anonymize._grassberger("subjects") -%}
        {%- set sql = "exp(" ~ whole ~ " - sum(subjects * " ~ part ~ ") / max(class_subjects))" -%}
        {%- set measure = dbt_anonymize._measure("grassberger_l", "<", l, sql) -%}
        {%- do measures.append(dict(measure, is_rounded=true, worst="min")) -%}
    {%- elif variant == "recursive" -%}
        {%- set tail = "sum(case when position_by_frequency >= " ~ l ~ " then subjects else 0 end)" -%}
        {%- set sql = "max(subjects) / nullif(" ~ tail ~ ", 0)" -%}
        {%- set measure = dbt_anonymize._measure(
            "recursive_c", ">=", guarantee.c, sql, l, needs=["position_by_frequency"]
        ) -%}
        {%- do measures.append(dict(measure, is_infinite_if_null=true)) -%}
    {%- endif -%}
    {{ return({
        "measures": measures,
        "in_release": guarantee,
        "in_release_of_subjects": dict(guarantee, variant="distinct"),
        "least_values": l,
        "too_few_values":
            "l_diversity requires l = " ~ l ~ " of " ~ guarantee.attribute
            ~ ", which has <values> values only. Lower l to at most <values>.",
    }) }}
{%- endmacro %}


{# The measure that a variant shows of a class. #}
{% macro _measure_of_diversity(variant) -%}
    {{ return({
        "distinct": "distinct_l", "entropy": "entropy_l", "grassberger": "grassberger_l", "recursive": "recursive_c"
    }[variant]) }}
{%- endmacro %}


{#
  Grassberger's G(n), with which the entropy of few records is not underestimated so much: G(1) = -gamma - ln 2,
  G(2j) = G(2j + 1) = digamma(j + 1/2) + ln 2.
#}
{% macro _grassberger(count) -%}
    {{ return("(" ~ dbt_anonymize._digamma("(floor(" ~ count ~ " / 2) + 0.5)") ~ " + ln(2))") }}
{%- endmacro %}
