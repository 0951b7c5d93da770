{# Select with one row per interval of risk: `risk_from`, `risk_to`, `records_share` and `cumulative_share`. #}
{% macro risk_intervals(relation, quasi_identifiers, subject=none) -%}
with

classes as (

    {{ dbt_anonymize._risk_classes(relation, quasi_identifiers, subject) | indent(4) }}

),

efforts as (

    select 0 as effort

),

sizes as (

    select
        0 as effort,
        class_size,
        sum(records) as records
    from classes
    group by class_size

),

{{ dbt_anonymize._risk_shares() }}

select
    risk_from,
    risk_to,
    records_share,
    cumulative_share
from shares
order by risk_to
{%- endmacro %}
