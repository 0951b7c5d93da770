{# Select with one row: `highest_risk`, `average_risk`, `lowest_risk` and `share_at_risk`. #}
{% macro journalist_risk(relation, population, quasi_identifiers, subject=none, threshold=0.2) -%}
{%- set one = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" -%}
with

classes as (

    {{ dbt_anonymize._population_classes(relation, population, quasi_identifiers, subject) | indent(4) }}

),

risks as (

    select
        {{ one }} / min(population_size) as highest_risk,
        {#- Who picks a person of the population, and who picks a record of the relation: the better of the two. #}
        {{ one }} * count(*) / nullif(sum(population_size), 0) as person_risk,
        sum({{ one }} * class_size / population_size) / nullif(sum(class_size), 0) as record_risk,
        {{ one }} / max(population_size) as lowest_risk,
        {{ one }} * sum(case when {{ dbt_anonymize._risk_threshold(threshold) }} * population_size < 1 then class_size else 0 end)
        / nullif(sum(class_size), 0) as share_at_risk
    from classes

)

select
    highest_risk,
    case when person_risk > record_risk then person_risk else record_risk end as average_risk,
    lowest_risk,
    share_at_risk
from risks
{%- endmacro %}
