{% test k_map(model, k, quasi_identifiers, population=none, estimator=none, significance=none, population_size=none, subject=none) %}
{{ dbt_anonymize._explain_failures("k_map", {"k": k, "estimator": estimator, "significance": significance}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.k_map(model, quasi_identifiers, k, population, estimator, significance, population_size, subject),
    ["class_size", "records", "demanded_size" if estimator else "population_size"],
    model,
    [subject],
) }}
{% endtest %}
