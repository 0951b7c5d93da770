{# Select with one row: `sample_uniqueness` and, with a population, `unique_in_population`. #}
{% macro uniqueness_shares(relation, quasi_identifiers, subject=none, population=none) -%}
with

classes as (

    {% if population is none -%}
    {{ dbt_anonymize._risk_classes(relation, quasi_identifiers, subject) | indent(4) }}
    {%- else -%}
    {{ dbt_anonymize._population_classes(relation, population, quasi_identifiers, subject) | indent(4) }}
    {%- endif %}

)

select
    {{ dbt_anonymize._share_of_size_one("class_size") }} as sample_uniqueness
    {%- if population is not none %},
    {{ dbt_anonymize._share_of_size_one("population_size") }} as unique_in_population
    {%- endif %}
from classes
{%- endmacro %}


{#
  Aggregate over classes: the share of the subjects of the relation in classes where `size` is 1. Such a class has one
  person of the relation, also if `size` is that in the population.
#}
{% macro _share_of_size_one(size) -%}
    {%- set one = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" -%}
    {{ return("sum(case when " ~ size ~ " = 1 then " ~ one ~ " else 0 end) / nullif(sum(class_size), 0)") }}
{%- endmacro %}
