{# Select with one row per effort: `<qi>_loss` of each quasi-identifier and `loss`. #}
{% macro loss(classes, quasi_identifiers, generalization_suppression_factor=0.5, aggregate="geometric_mean") -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set losses = [] -%}
with

smallest_shares as (

    {{ dbt_anonymize._smallest_shares(quasi_identifiers) | indent(4) }}

),

sums as (

    select
        effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set share = dbt_anonymize._quote(quasi_identifier.name ~ "_share") %}
        {#- A suppressed record costs what it would cost generalized, and the factor's part of the rest up to 1. #}
        {%- set suppressed = "records * (" ~ share ~ " + " ~ factors.suppression ~ " * (1 - " ~ share ~ "))" %}
        sum(case
            when is_suppressed then {{ "records" if factors.suppression == "1" else suppressed }}
            else {{ dbt_anonymize._times(factors.generalization, "records * " ~ share) }}
        end) as lost_{{ loop.index }},
        {%- endfor %}
        cast(sum(records) as {{ dbt_anonymize._type_double() }}) as records
    from {{ classes }}
    group by effort

),

losses as (

    select
        sums.effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- do losses.append("loss_" ~ loop.index) %}
        {%- set smallest = "sums.records * smallest_shares.smallest_" ~ loop.index %}
        {%- set minimum = dbt_anonymize._times(factors.generalization, smallest) %}
        {#- What the raw values cost is no loss; a hierarchy of one value has nothing to lose. #}
        case
            when sums.lost_{{ loop.index }} <= {{ minimum }} then 0
            else (sums.lost_{{ loop.index }} - {{ minimum }}) / (sums.records - {{ minimum }})
        end as loss_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from sums
    cross join smallest_shares

)

select
    effort,
    {%- for quasi_identifier in quasi_identifiers %}
    {{ dbt_anonymize._rounded("loss_" ~ loop.index) }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_loss") }},
    {%- endfor %}
    {{ dbt_anonymize._rounded(dbt_anonymize._aggregate_attributes(losses, quasi_identifiers, aggregate)) }} as loss
from losses
{%- endmacro %}
