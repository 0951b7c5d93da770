{% test l_diversity(model, attribute, l, quasi_identifiers, variant="distinct", c=none, subject=none) %}
{{ dbt_anonymize._explain_failures("l_diversity", {"attribute": attribute, "l": l, "variant": variant, "c": c}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.l_diversity(model, quasi_identifiers, attribute, l, variant, c, subject),
    ["class_size", "records", {"distinct": "distinct_l", "entropy": "entropy_l", "grassberger": "grassberger_l", "recursive": "recursive_c"}[variant]],
    model,
    [attribute, subject],
) }}
{% endtest %}
