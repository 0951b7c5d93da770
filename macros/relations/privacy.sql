{% macro privacy(frequencies, quasi_identifiers, efforts, guarantees, suppression_limit) -%}
{{ config(materialized="table") }}
{%- set required_k = dbt_anonymize._required_k(guarantees) -%}
with

frequencies as (

    select * from {{ frequencies }}

),
{%- for effort, levels in efforts.items() %}
{%- set prefix = "effort_" ~ effort ~ "_" %}
{%- set k = required_k if effort > 0 else none %}
{%- set generalized = [] %}
{%- for quasi_identifier in quasi_identifiers %}
{%- do generalized.append(dict(quasi_identifier, level=levels[quasi_identifier.name])) %}
{%- endfor %}
{{- dbt_anonymize.generalize("frequencies", generalized, ["records"], prefix) }}

{{ dbt_anonymize.class_sizes(generalized, k, suppression_limit, "sum(records)", prefix) }}

{{ prefix }}privacy as (

    select
        {{ effort }} as effort,
        {{ prefix }}classes.class_size,
        {{ prefix }}classes.class_size < {{ required_k }} as is_below_k,
        {%- if k is none %}
        false as is_suppressed
        {%- else %}
        {{ prefix }}classes.class_size < {{ k }} and {{ prefix }}suppression.is_within_limit as is_suppressed
        {%- endif %}
    from {{ prefix }}classes
    {%- if k is not none %}
    cross join {{ prefix }}suppression
    {%- endif %}

),
{%- endfor %}

classes as (

    {%- for effort in efforts %}
    select * from effort_{{ effort }}_privacy
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

efforts as (

    {#- One row per effort also where there is no record. #}
    {%- for effort in efforts %}
    select {{ effort }} as effort
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

counts as (

    select
        efforts.effort,
        {%- set bigint = dbt.type_bigint() %}
        cast(min(case when not classes.is_suppressed then classes.class_size end) as {{ bigint }}) as k,
        cast(count(case when not classes.is_suppressed then 1 end) as {{ bigint }}) as equivalence_classes,
        cast(coalesce(sum(classes.class_size), 0) as {{ bigint }}) as records,
        cast(coalesce(sum(case when not classes.is_suppressed then classes.class_size end), 0) as {{ bigint }}) as released_records,
        cast(coalesce(sum(case when classes.is_suppressed then classes.class_size end), 0) as {{ bigint }}) as suppressed_records,
        cast(coalesce(sum(case when classes.is_below_k then classes.class_size end), 0) as {{ bigint }}) as records_below_k
    from efforts
    left join classes on efforts.effort = classes.effort
    group by efforts.effort

)

select
    effort,
    k,
    equivalence_classes,
    records,
    released_records,
    suppressed_records,
    records_below_k,
    cast(1.0 as {{ dbt_anonymize._type_double() }}) / k as highest_risk,
    cast(equivalence_classes as {{ dbt_anonymize._type_double() }}) / nullif(released_records, 0) as average_risk
from counts
order by effort
{%- endmacro %}
