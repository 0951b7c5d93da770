{% macro risk_profile(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["classes", "efforts"], {"released": none}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
with

efforts as (

    {{ dbt_anonymize._numbers_of_efforts(given.efforts) | indent(4) }}

),

{% if given.released -%}
told as (

    {{ dbt_anonymize._told_classes(given.classes, given.released, ["effort", "class_size", "records"]) }}

),

{% endif -%}
sizes as (

    select
        effort,
        class_size,
        sum(records) as records
    {%- if given.released %}
    from told
    {%- else %}
    from {{ given.classes }}
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
