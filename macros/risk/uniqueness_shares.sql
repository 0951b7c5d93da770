{# Select with one row: `sample_uniqueness` and, with a population, `unique_in_population`. #}
{% macro uniqueness_shares(relation, quasi_identifiers, subject=none, population=none) -%}
{%- set one = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" -%}
with

classes as (

    {% if population is none -%}
    {{ dbt_anonymize._risk_classes(relation, quasi_identifiers, subject) | indent(4) }}
    {%- else -%}
    {{ dbt_anonymize._population_classes(relation, population, quasi_identifiers, subject) | indent(4) }}
    {%- endif %}

)

{%- set sample_uniqueness = one ~ " * sum(case when class_size = 1 then 1 else 0 end) / nullif(sum(class_size), 0) as sample_uniqueness" %}
{%- if population is none %}

select {{ sample_uniqueness }}
{%- else %}

select
    {{ one }} * sum(case when population_size = 1 then 1 else 0 end) / nullif(sum(class_size), 0) as unique_in_population,
    {{ sample_uniqueness }}
{%- endif %}
from classes
{%- endmacro %}
