{% macro calibration(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["evaluation"]) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set double = dbt_anonymize._type_double() -%}
{%- set without_class = ["effort", "target", "model", "fit", "test_on"] -%}
{%- set group = without_class + ["class"] -%}
with

predicted as (

    select
        {{ without_class | join(",\n        ") }},
        name as class,
        other,
        cast(bin as {{ double }}) as thousandths,
        {#- The last tenth includes 1. #}
        least(floor(cast(bin as {{ double }}) / 100), 9) as tenth,
        value as records
    from {{ given.evaluation }}
    where kind = 'probability'

)

select
    {{ group | join(",\n    ") }},
    tenth / 10 as bin_from,
    (tenth + 1) / 10 as bin_to,
    cast(sum(records) as {{ dbt.type_bigint() }}) as records,
    sum(thousandths * records) / (1000 * sum(records)) as mean_probability,
    sum(case when other = '1' then records else 0 end) / sum(records) as observed_share
from predicted
where records > 0
group by
    {{ group | join(",\n    ") }},
    tenth
order by
    {{ group | join(",\n    ") }},
    tenth
{%- endmacro %}
