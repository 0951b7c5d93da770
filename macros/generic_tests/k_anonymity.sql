{% test k_anonymity(model, k, quasi_identifiers, subject=none) %}
{{ config(store_failures=false) }}
{#- Class sizes only: a failing test must not copy anybody's quasi-identifiers into a log or a table. -#}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.k_anonymity(model, quasi_identifiers, k, subject),
    ["class_size", "records"],
    model,
    [subject],
) }}
{% endtest %}
