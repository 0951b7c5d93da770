{% test uniqueness(model, quasi_identifiers, sample=none, population=none, estimator=none, population_size=none, subject=none) %}
{{ dbt_anonymize._explain_failures("uniqueness", {"sample": sample, "population": population, "estimator": estimator}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.uniqueness(model, quasi_identifiers, sample, population, estimator, population_size, subject),
    ["records", "unique_people", "uniqueness"],
    model,
    [subject],
) }}
{% endtest %}
