{# Select with one row: `highest_risk`, `average_risk`, `lowest_risk` and `share_at_risk`. #}
{% macro prosecutor_risk(relation, quasi_identifiers, subject=none, threshold=0.2) -%}
{%- set one = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" -%}
with

classes as (

    {{ dbt_anonymize._risk_classes(relation, quasi_identifiers, subject) | indent(4) }}

)

select
    {{ one }} / min(class_size) as highest_risk,
    {{ one }} * count(*) / nullif(sum(class_size), 0) as average_risk,
    {{ one }} / max(class_size) as lowest_risk,
    {{ one }} * sum(case when {{ dbt_anonymize._risk_threshold(threshold) }} * class_size < 1 then class_size else 0 end)
    / nullif(sum(class_size), 0) as share_at_risk
from classes
{%- endmacro %}
