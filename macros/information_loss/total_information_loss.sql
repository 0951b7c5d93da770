{# Select with one row per effort and its `total_information_loss`. #}
{% macro total_information_loss(classes, quasi_identifiers, generalization_suppression_factor=0.5) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set costs = [] -%}
with

costs as (

    select
        effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- do costs.append("cost_" ~ loop.index) %}
        {%- set width = dbt_anonymize._quote(quasi_identifier.name ~ "_share") %}
        {%- if quasi_identifier.kind != "interval" %}
            {%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level") %}
            {%- set width = "cast(" ~ level ~ " as " ~ double ~ ") / " ~ quasi_identifier.levels %}
        {%- endif %}
        sum(case
            when is_suppressed then {{ dbt_anonymize._times(factors.suppression, "records") }}
            else {{ dbt_anonymize._times(factors.generalization, "records") }} * {{ width }}
        end) as cost_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ classes }}
    group by effort

)

select
    effort,
    {{ dbt_anonymize._aggregate_attributes(costs, quasi_identifiers, "sum") }} as total_information_loss
from costs
{%- endmacro %}
