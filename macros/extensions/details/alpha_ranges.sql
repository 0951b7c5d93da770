{% macro alpha_ranges(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["results"]) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
with

{# The untouched table takes part, if it has a score in every split or no model scores: where it is best, no effort is
   worth what it costs. #}
lines as (

    select
        effort,
        qf_mean,
        qnf
    from {{ given.results }}
    where qualifies or (effort = 0 and (beats_zero_rule is not null or repetitions is null) and qnf is not null)

),

{{ dbt_anonymize._alpha_envelope("lines") }}

ranges as (

    select
        alpha_from,
        alpha_to,
        effort,
        effort > 0 as is_releasable
    from alpha_ranges

)

select
    alpha_from,
    alpha_to,
    effort,
    is_releasable,
    {#- Below the first break point quality alone decides and above the last one privacy alone;
        between them, and where one effort is best for every alpha, both count. #}
    is_releasable and ((alpha_from > 0 and alpha_to is not null) or (alpha_from = 0 and alpha_to is null)) as is_usable
from ranges
order by alpha_from
{%- endmacro %}
