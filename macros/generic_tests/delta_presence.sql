{% test delta_presence(model, minimum, maximum, quasi_identifiers, population, subject=none) %}
{{ dbt_anonymize._explain_failures("delta_presence", {"minimum": minimum, "maximum": maximum}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.delta_presence(model, quasi_identifiers, population, minimum, maximum, subject),
    ["class_size", "records", "population_size", "presence"],
    model,
    [subject],
) }}
{% endtest %}
