{# Select with one row per effort and its `average_class_size`. All suppressed records are one class. #}
{% macro average_class_size(classes) -%}
select
    effort,
    cast(sum(records) as {{ dbt_anonymize._type_double() }})
    / (
        count(case when not is_suppressed then 1 end) + max(case when is_suppressed then 1 else 0 end)
    ) as average_class_size
from {{ classes }}
group by effort
{%- endmacro %}
