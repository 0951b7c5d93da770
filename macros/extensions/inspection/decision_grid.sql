{% macro decision_grid(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["evaluation", "features"]) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
with

evaluation as (

    select * from {{ given.evaluation }}

)
{%- for axis in ["x", "y"] %},

{{ axis }}_values as (

    select
        bin,
        value
    from evaluation
    where
        kind = 'grid_point'
        and name = {{ dbt_anonymize._literals([given.features[loop.index0]]) }}

)
{%- endfor %}

select
    evaluation.effort,
    evaluation.target,
    evaluation.model,
    evaluation.fit,
    evaluation.test_on,
    evaluation.name as class,
    evaluation.bin as point,
    x_values.value as x,
    y_values.value as y,
    evaluation.value as prediction
from evaluation
inner join x_values on evaluation.bin = x_values.bin
inner join y_values on evaluation.bin = y_values.bin
where evaluation.kind = 'grid'
order by
    evaluation.target,
    evaluation.model,
    evaluation.fit,
    evaluation.effort,
    evaluation.name,
    evaluation.bin
{%- endmacro %}
