{% macro scores(evaluation) -%}
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
    name as measure,
    other as class,
    {#- What is not a number would be the largest score. #}
    nullif(cast(value as {{ double }}), cast('NaN' as {{ double }})) as value
from {{ evaluation }}
where kind = 'measure'
{%- endmacro %}
