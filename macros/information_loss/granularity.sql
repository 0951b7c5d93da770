{# Select with one row per effort: `<qi>_granularity` of each quasi-identifier and `granularity`. #}
{% macro granularity(classes, quasi_identifiers, aggregate="arithmetic_mean") -%}
{%- set shares, smallest = [], [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do shares.append("shares.share_" ~ loop.index) -%}
    {%- do smallest.append("smallest_shares.smallest_" ~ loop.index) -%}
{%- endfor -%}
with

smallest_shares as (

    {{ dbt_anonymize._smallest_shares(quasi_identifiers) | indent(4) }}

),

shares as (

    select
        effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set share = dbt_anonymize._quote(quasi_identifier.name ~ "_share") %}
        sum(case when is_suppressed then records else records * {{ share }} end)
        / cast(sum(records) as {{ dbt_anonymize._type_double() }}) as share_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ classes }}
    group by effort

)

select
    shares.effort,
    {%- for quasi_identifier in quasi_identifiers %}
    {#- A hierarchy of one value has nothing to lose. #}
    {%- set left = "coalesce((1 - " ~ shares[loop.index0] ~ ") / nullif(1 - " ~ smallest[loop.index0] ~ ", 0), 1)" %}
    {{ dbt_anonymize._rounded(left) }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_granularity") }},
    {%- endfor %}
    {#- What is left to lose of one that tells everything: of a sum, from each quasi-identifier. #}
    {%- set most = quasi_identifiers | length if aggregate == "sum" else 1 %}
    {%- set lost = dbt_anonymize._aggregate_attributes(shares, quasi_identifiers, aggregate) %}
    {%- set least = dbt_anonymize._aggregate_attributes(smallest, quasi_identifiers, aggregate) %}
    {%- set left = "(" ~ most ~ " - (" ~ lost ~ ")) / nullif(" ~ most ~ " - (" ~ least ~ "), 0)" %}
    {{ dbt_anonymize._rounded("coalesce(" ~ left ~ ", 1)") }} as granularity
from shares
cross join smallest_shares
{%- endmacro %}
