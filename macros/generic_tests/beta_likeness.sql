{% test beta_likeness(model, attribute, beta, quasi_identifiers, variant="enhanced", subject=none) %}
{{ dbt_anonymize._explain_failures("beta_likeness", {"attribute": attribute, "beta": beta, "variant": variant}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.beta_likeness(model, quasi_identifiers, attribute, beta, variant, subject),
    ["class_size", "records", {"basic": "beta", "enhanced": "enhanced_beta"}[variant]],
    model,
    [attribute, subject],
) }}
{% endtest %}
