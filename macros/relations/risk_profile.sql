{% macro risk_profile(classes, efforts) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
with

efforts as (

    {{ dbt_anonymize._numbers_of_efforts(efforts) | indent(4) }}

),

sizes as (

    select
        effort,
        class_size,
        sum(records) as records
    from {{ classes }}
    where not is_suppressed
    group by effort, class_size

),

{{ dbt_anonymize._risk_shares() }}

select
    effort,
    risk_from,
    risk_to,
    records_share,
    cumulative_share
from shares
order by effort, risk_to
{%- endmacro %}
