{# Select with one row per effort and its `kl_divergence` in bits. #}
{% macro kl_divergence(covered_tuples, frequencies, quasi_identifiers) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set names = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do names.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
{%- endfor -%}
with

tuples as (

    select
        {{ dbt_anonymize._sum_n_ln_n("records") }} as n_ln_n,
        sum(records) as records
    from (
        select cast(sum(records) as {{ double }}) as records
        from {{ frequencies }}
        group by
            {{ names | join(",\n            ") }}
    ) as counted

),

{# The records of a class are spread evenly over what it covers, and all suppressed records over everything. -#}
sums as (

    select
        effort,
        cast(sum(records) as {{ double }}) as records,
        cast(sum(case when is_suppressed then records else 0 end) as {{ double }}) as suppressed_records,
        {%- set kept = "case when is_suppressed then 0 else cast(records as " ~ double ~ ") end" %}
        {{ dbt_anonymize._sum_n_ln_n(kept) }} as n_ln_n,
        sum(records * ln(case when is_suppressed then domain else covered end)) as n_ln_covered,
        sum(case when is_suppressed or is_exact then 0 else 1 end) as approximate_classes
    from {{ covered_tuples }}
    group by effort

),

divergences as (

    select
        sums.effort,
        case
            {#- A sample has another distribution. #}
            when sums.approximate_classes = 0 and sums.records = tuples.records
                then (
                    tuples.n_ln_n - sums.n_ln_n
                    - coalesce(sums.suppressed_records * ln(nullif(sums.suppressed_records, 0)), 0)
                    + sums.n_ln_covered
                ) / sums.records / ln(2)
        end as kl_divergence
    from sums
    cross join tuples

)

select
    effort,
    {#- At least 0; what is left of rounding is 0 too. Two records that are told apart no more cost some 1 / records. #}
    case when kl_divergence < 1e-12 then 0 else kl_divergence end as kl_divergence
from divergences
{%- endmacro %}
