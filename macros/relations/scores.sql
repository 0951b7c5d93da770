{% macro scores(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["evaluation"]) -%}
{{ config(materialized="view") }}
{%- set double = dbt_anonymize._type_double() -%}
select
    effort,
    target,
    model,
    fit,
    repetition,
    fold,
    test_on,
    case when kind = 'measure' then name end as measure,
    other as class,
    {#- What is not a number, or infinite, would be the largest score. #}
    case
        when abs(cast(value as {{ double }})) < cast('Infinity' as {{ double }}) then cast(value as {{ double }})
    end as value,
    {#- A model that could not be trained is told, or its split would be missing without a word. #}
    case when kind = 'failure' then name end as reason
from {{ given.evaluation }}
where kind in ('measure', 'failure')
{%- endmacro %}
