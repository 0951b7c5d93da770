{% test delta_disclosure(model, attribute, delta, quasi_identifiers, subject=none) %}
{{ config(store_failures=false) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.delta_disclosure(model, quasi_identifiers, attribute, delta, subject),
    ["class_size", "records", "delta"],
    model,
    [attribute, subject],
) }}
{% endtest %}
