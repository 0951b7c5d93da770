{% test delta_disclosure(model, attribute, delta, quasi_identifiers, subject=none) %}
{{ dbt_anonymize._explain_failures("delta_disclosure", {"attribute": attribute, "delta": delta}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.delta_disclosure(model, quasi_identifiers, attribute, delta, subject),
    ["class_size", "records", "delta"],
    model,
    [attribute, subject],
) }}
{% endtest %}
