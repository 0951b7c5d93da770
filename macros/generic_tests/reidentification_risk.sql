{% test reidentification_risk(model, quasi_identifiers, average=none, highest=none, subject=none) %}
{{ config(store_failures=false) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.reidentification_risk(model, quasi_identifiers, average, highest, subject),
    ["class_size", "records", "risk"],
    model,
    [subject],
) }}
{% endtest %}
