{# Select with one row: `marketer_risk`. #}
{% macro marketer_risk(relation, population, quasi_identifiers, subject=none) -%}
with

classes as (

    {{ dbt_anonymize._population_classes(relation, population, quasi_identifiers, subject) | indent(4) }}

)

select {{ dbt_anonymize._marketer_risk() }} as marketer_risk
from classes
{%- endmacro %}


{# Aggregate over classes with `class_size` and `population_size`: NULL without a class or a population. #}
{% macro _marketer_risk() -%}
    {%- set risk_sum = "sum(cast(class_size as " ~ dbt_anonymize._type_double() ~ ") / nullif(population_size, 0))" -%}
    {{ return(risk_sum ~ " / nullif(sum(class_size), 0)") }}
{%- endmacro %}
