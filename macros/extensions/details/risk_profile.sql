{% macro risk_profile(classes, efforts, released=none) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
with

efforts as (

    {{ dbt_anonymize._numbers_of_efforts(efforts) | indent(4) }}

),

{% if released -%}
told as (

    {{ dbt_anonymize._told_classes(classes, released, ["effort", "class_size", "records"]) }}

),

{% endif -%}
sizes as (

    select
        effort,
        class_size,
        sum(records) as records
    {%- if released %}
    from told
    {%- else %}
    from {{ classes }}
    where not is_suppressed
    {%- endif %}
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
