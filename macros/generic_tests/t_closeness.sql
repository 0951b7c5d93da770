{% test t_closeness(model, attribute, t, quasi_identifiers, distance="equal", hierarchy=none, levels=none, subject=none) %}
{{ config(store_failures=false) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.t_closeness(model, quasi_identifiers, attribute, t, distance, hierarchy, levels, subject),
    ["class_size", "records", "t"],
    model,
    [attribute, subject],
) }}
{% endtest %}
