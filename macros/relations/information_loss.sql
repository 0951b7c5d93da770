{% macro information_loss(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "classes", "frequencies", "quasi_identifiers", "efforts",
], {
    "generalization_suppression_factor": 0.5, "aggregate": "geometric_mean", "target": none, "target_weights": {},
    "has_modes": false, "sample_shares": {}, "has_target": true,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._after_steps() + dbt_anonymize._analyzed()) }}
{%- set measures = dbt_anonymize._loss_measures(given) -%}
{%- set columns = [] -%}
{%- for measure in measures -%}
    {%- do columns.append(measure ~ "_by_effort." ~ measure) -%}
{%- endfor -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- for measure, (query, attributes) in measures.items() if quasi_identifier in attributes -%}
        {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name ~ "_" ~ measure, measure ~ "_by_effort")) -%}
    {%- endfor -%}
{%- endfor -%}
{% call dbt_anonymize._in_steps(["covered_tuples"]) -%}
with

efforts as (

    {{ dbt_anonymize._numbers_of_efforts(given.efforts) | indent(4) }}

),

covered_tuples as (

    {{ dbt_anonymize.covered_tuples(given.classes, given.frequencies, given.quasi_identifiers) | indent(4) }}

),
{%- for measure, (query, attributes) in measures.items() %}

{{ measure }}_by_effort as (

    {{ query | indent(4) }}

){{ "," if not loop.last }}
{%- endfor %}

select
    efforts.effort,
    {{ columns | join(",\n    ") }}
from efforts
{%- for measure in measures %}
left join {{ measure }}_by_effort on efforts.effort = {{ measure }}_by_effort.effort
{%- endfor %}
order by efforts.effort
{%- endcall %}
{%- endmacro %}
