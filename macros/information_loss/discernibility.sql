{# Select with one row per effort and its `discernibility`. #}
{% macro discernibility(classes) -%}
{%- set double = dbt_anonymize._type_double() -%}
select
    effort,
    sum(case when is_suppressed then 0 else cast(records as {{ double }}) * records end)
    + cast(sum(records) as {{ double }}) * sum(case when is_suppressed then records else 0 end) as discernibility
from {{ classes }}
group by effort
{%- endmacro %}
