{# Select with one row per effort and its `average_class_size`. All suppressed records are one class. #}
{% macro average_class_size(classes, generalization_suppression_factor=0.5) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
select
    effort,
    cast(sum(records) as {{ dbt_anonymize._type_double() }}) / nullif(
        {{ dbt_anonymize._times(factors.generalization, "count(case when not is_suppressed then 1 end)") }}
        + {{ dbt_anonymize._times(factors.suppression, "max(case when is_suppressed then 1 else 0 end)") }},
        0
    ) as average_class_size
from {{ classes }}
group by effort
{%- endmacro %}
