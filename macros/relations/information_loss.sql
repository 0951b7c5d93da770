{% macro information_loss(
    classes, frequencies, quasi_identifiers, efforts, generalization_suppression_factor=0.5, aggregate="geometric_mean"
) -%}
{{ config(materialized="table") }}
{%- set gs = generalization_suppression_factor -%}
{%- set by_attribute = ["loss", "granularity", "precision", "non_uniform_entropy"] -%}
{%- set measures = {
    "loss": dbt_anonymize.loss(classes, quasi_identifiers, gs, aggregate),
    "granularity": dbt_anonymize.granularity(classes, quasi_identifiers),
    "precision": dbt_anonymize.precision(classes, quasi_identifiers, gs),
    "discernibility": dbt_anonymize.discernibility(classes),
    "average_class_size": dbt_anonymize.average_class_size(classes),
    "non_uniform_entropy": dbt_anonymize.non_uniform_entropy(classes, frequencies, quasi_identifiers, gs),
    "ambiguity": dbt_anonymize.ambiguity("covered_tuples"),
    "kl_divergence": dbt_anonymize.kl_divergence("covered_tuples", frequencies, quasi_identifiers),
    "entropy_based_loss": dbt_anonymize.entropy_based_loss("covered_tuples", gs),
    "classification_metric": dbt_anonymize.classification_metric(classes, gs),
} -%}
with

efforts as (

    {#- One row per effort also where there is no record. #}
    {%- for effort in efforts %}
    select {{ effort }} as effort
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

covered_tuples as (

    {{ dbt_anonymize.covered_tuples(classes, frequencies, quasi_identifiers) | indent(4) }}

),
{%- for measure, query in measures.items() %}

{{ measure }}_by_effort as (

    {{ query | indent(4) }}

){{ "," if not loop.last }}
{%- endfor %}

select
    efforts.effort,
    {%- for measure in measures %}
    {{ measure }}_by_effort.{{ measure }},
    {%- endfor %}
    {%- for quasi_identifier in quasi_identifiers %}
    {%- set is_last = loop.last %}
    {%- for measure in by_attribute %}
    {{ dbt_anonymize._quote(quasi_identifier.name ~ "_" ~ measure, measure ~ "_by_effort") }}{{ "," if not (loop.last and is_last) }}
    {%- endfor %}
    {%- endfor %}
from efforts
{%- for measure in measures %}
left join {{ measure }}_by_effort on efforts.effort = {{ measure }}_by_effort.effort
{%- endfor %}
order by efforts.effort
{%- endmacro %}
