{% macro risk_profile(classes, efforts) -%}
{{ config(materialized="table") }}
with

efforts as (

    {#- Every effort has every interval, also where no record is released. #}
    {%- for effort in efforts %}
    select {{ effort }} as effort
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

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
