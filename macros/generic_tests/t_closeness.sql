{% test t_closeness(model, attribute, t, quasi_identifiers, distance="equal", hierarchy=none, levels=none, subject=none) %}
{{ dbt_anonymize._explain_failures("t_closeness", {"attribute": attribute, "t": t, "distance": distance}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.t_closeness(model, quasi_identifiers, attribute, t, distance, hierarchy, levels, subject),
    ["class_size", "records", "t"],
    model,
    [attribute, subject],
) }}
{% endtest %}
