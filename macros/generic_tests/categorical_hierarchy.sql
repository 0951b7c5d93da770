{% test categorical_hierarchy(model, levels, nested=true) %}
{{ dbt_anonymize._hierarchy_test(model, "categorical", levels, nested) }}
{% endtest %}
