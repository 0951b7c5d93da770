{# Select with one row: `marketer_risk`. #}
{% macro marketer_risk(relation, population, quasi_identifiers, subject=none) -%}
with

classes as (

    {{ dbt_anonymize._population_classes(relation, population, quasi_identifiers, subject) | indent(4) }}

)

select
    sum(cast(class_size as {{ dbt_anonymize._type_double() }}) / population_size)
    / nullif(sum(class_size), 0) as marketer_risk
from classes
{%- endmacro %}
