{# Select with one row per effort: `<qi>_non_uniform_entropy` of each quasi-identifier and `non_uniform_entropy`. #}
{% macro non_uniform_entropy(
    classes, frequencies, quasi_identifiers, generalization_suppression_factor=0.5, aggregate="sum"
) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set keys, entropies = [], [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do keys.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
{%- endfor -%}
{#- The entropy of raw values given their labels is a difference of two sums of n ln n: a value has one label. Values
    and labels of all columns are counted in one pass each, since a warehouse of rows reads them whole. -#}
with

value_counts as (
{{ dbt_anonymize._counted_apart(frequencies, keys, {"records": "records"}) }}

),

raw_values as (

    select
        {%- for key in keys %}
        {{ dbt_anonymize._sum_n_ln_n("records", "is_other_" ~ loop.index ~ " = 0") }} as n_ln_n_{{ loop.index }},
        {%- endfor %}
        sum(case when is_other_1 = 0 then records end) as records
    from value_counts

),

label_counts as (
{{ dbt_anonymize._counted_apart(classes, keys, {
    "records": "records", "suppressed_records": "case when is_suppressed then records else 0 end",
}, "effort") }}

),

labels as (

    select
        effort,
        {%- for key in keys %}
        {%- set is_counted = "is_other_" ~ loop.index ~ " = 0" %}
        {{ dbt_anonymize._sum_n_ln_n("records", is_counted) }} as n_ln_n_{{ loop.index }},
        {{ dbt_anonymize._sum_n_ln_n("suppressed_records", is_counted) }} as suppressed_n_ln_n_{{ loop.index }},
        {%- endfor %}
        sum(case when is_other_1 = 0 then records end) as records,
        sum(case when is_other_1 = 0 then suppressed_records end) as suppressed_records
    from label_counts
    group by effort

),

levels as (

    select
        effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level") %}
        count({{ level }}) = count(*) and min({{ level }}) = max({{ level }}) as is_one_{{ loop.index }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from {{ classes }}
    group by effort

),

entropies as (

    select
        labels.effort,
        {%- set suppressed = "labels.suppressed_records" %}
        {%- set suppressed_n_ln_n = "coalesce(" ~ suppressed ~ " * ln(nullif(" ~ suppressed ~ ", 0)), 0)" %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- do entropies.append("entropy_" ~ loop.index) %}
        {%- set n_ln_n = "n_ln_n_" ~ loop.index %}
        {%- set lost = dbt_anonymize._difference("labels." ~ n_ln_n, "raw_values." ~ n_ln_n) %}
        {%- set gone = dbt_anonymize._difference(suppressed_n_ln_n, "labels.suppressed_" ~ n_ln_n) %}
        {#- Where a value has labels of several levels, the classes do not tell which; a sample has other entropies. #}
        case
            when not levels.is_one_{{ loop.index }} or labels.records <> raw_values.records then null
            else (
                {{ dbt_anonymize._times(factors.generalization, lost) }}
                + {{ dbt_anonymize._times(factors.suppression, gone) }}
            ) / ln(2)
        end as entropy_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from labels
    inner join levels on labels.effort = levels.effort
    cross join raw_values

)

select
    effort,
    {%- for quasi_identifier in quasi_identifiers %}
    entropy_{{ loop.index }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_non_uniform_entropy") }},
    {%- endfor %}
    {{ dbt_anonymize._aggregate_attributes(entropies, quasi_identifiers, aggregate) }} as non_uniform_entropy
from entropies
{%- endmacro %}


{# Select of sums for each value of each of several columns, in one pass: of a row of the i-th column `is_other_<i>`
   is 0. `by`: a column by which all of it is done. #}
{% macro _counted_apart(relation, keys, sums, by=none) %}
    select
        {%- if by %}
        {{ by }},
        {%- endif %}
        {%- for key in keys %}
        grouping({{ key }}) as is_other_{{ loop.index }},
        {%- endfor %}
        {%- for name, term in sums.items() %}
        cast(sum({{ term }}) as {{ dbt_anonymize._type_double() }}) as {{ name }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ relation }}
    group by grouping sets (  -- noqa: PRS
        {%- for key in keys %}
        ({{ by ~ ", " if by }}{{ key }}){{ "," if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}
