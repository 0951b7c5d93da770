{% test alpha_k_anonymity(model, attribute, alpha, k, quasi_identifiers, values=none, subject=none) %}
{{ dbt_anonymize._explain_failures("alpha_k_anonymity", {"attribute": attribute, "alpha": alpha, "k": k}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.alpha_k_anonymity(model, quasi_identifiers, attribute, alpha, k, values, subject),
    ["class_size", "records", "highest_share"],
    model,
    [attribute, subject],
) }}
{% endtest %}
