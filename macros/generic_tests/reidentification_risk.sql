{% test reidentification_risk(model, quasi_identifiers, average=none, highest=none, subject=none) %}
{{ dbt_anonymize._explain_failures("reidentification_risk", {"average": average, "highest": highest}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.reidentification_risk(model, quasi_identifiers, average, highest, subject),
    ["class_size", "records", "risk"],
    model,
    [subject],
) }}
{% endtest %}
