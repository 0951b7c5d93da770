{% test interval_hierarchy(model, levels, nested=true) %}
{{ dbt_anonymize._hierarchy_test(model, "interval", levels, nested) }}
{% endtest %}
