{# Select with one row per effort: `<qi>_non_uniform_entropy` of each quasi-identifier and `non_uniform_entropy`. #}
{% macro non_uniform_entropy(
    classes, frequencies, quasi_identifiers, generalization_suppression_factor=0.5, aggregate="sum"
) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set entropies = [] -%}
{#- The entropy of raw values given their labels is a difference of two sums of n ln n: a value has one label. -#}
with
{%- for quasi_identifier in quasi_identifiers %}
{%- set name = dbt_anonymize._quote(quasi_identifier.name) %}
{%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level") %}

values_{{ loop.index }} as (

    select
        {{ dbt_anonymize._sum_n_ln_n("records") }} as n_ln_n,
        sum(records) as records
    from (
        select cast(sum(records) as {{ double }}) as records
        from {{ frequencies }}
        group by {{ name }}
    ) as counted

),

labels_{{ loop.index }} as (

    select
        effort,
        min(lowest_level) as lowest_level,
        max(highest_level) as highest_level,
        sum(without_level) as without_level,
        sum(records) as records,
        sum(suppressed_records) as suppressed_records,
        {{ dbt_anonymize._sum_n_ln_n("records") }} as n_ln_n,
        {{ dbt_anonymize._sum_n_ln_n("suppressed_records") }} as suppressed_n_ln_n
    from (
        select
            effort,
            min({{ level }}) as lowest_level,
            max({{ level }}) as highest_level,
            sum(case when {{ level }} is null then 1 else 0 end) as without_level,
            cast(sum(records) as {{ double }}) as records,
            cast(sum(case when is_suppressed then records else 0 end) as {{ double }}) as suppressed_records
        from {{ classes }}
        group by effort, {{ name }}
    ) as counted
    group by effort

),
{%- endfor %}

entropies as (

    select
        labels_1.effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- do entropies.append("entropy_" ~ loop.index) %}
        {%- set labels, raw = "labels_" ~ loop.index, "values_" ~ loop.index %}
        {%- set suppressed = labels ~ ".suppressed_records" %}
        {%- set suppressed_n_ln_n = "coalesce(" ~ suppressed ~ " * ln(nullif(" ~ suppressed ~ ", 0)), 0)" %}
        {%- set lost = dbt_anonymize._difference(labels ~ ".n_ln_n", raw ~ ".n_ln_n") %}
        {%- set gone = dbt_anonymize._difference(suppressed_n_ln_n, labels ~ ".suppressed_n_ln_n") %}
        {#- Where a value has labels of several levels, the classes do not tell which; a sample has other entropies. #}
        case
            when {{ labels }}.without_level > 0 or {{ labels }}.lowest_level < {{ labels }}.highest_level then null
            when {{ labels }}.records <> {{ raw }}.records then null
            else (
                {{ dbt_anonymize._times(factors.generalization, lost) }}
                + {{ dbt_anonymize._times(factors.suppression, gone) }}
            ) / ln(2)
        end as entropy_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from labels_1
    cross join values_1
    {%- for quasi_identifier in quasi_identifiers[1:] %}
    inner join labels_{{ loop.index + 1 }} on labels_1.effort = labels_{{ loop.index + 1 }}.effort
    cross join values_{{ loop.index + 1 }}
    {%- endfor %}

)

select
    effort,
    {%- for quasi_identifier in quasi_identifiers %}
    entropy_{{ loop.index }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_non_uniform_entropy") }},
    {%- endfor %}
    {{ dbt_anonymize._aggregate_attributes(entropies, quasi_identifiers, aggregate) }} as non_uniform_entropy
from entropies
{%- endmacro %}
