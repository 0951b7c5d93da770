{# Select with one row: `highest_risk`, `average_risk`, `lowest_risk` and `share_at_risk`. #}
{% macro journalist_risk(relation, population, quasi_identifiers, subject=none, threshold=0.2) -%}
with

classes as (

    {{ dbt_anonymize._population_classes(relation, population, quasi_identifiers, subject) | indent(4) }}

)

select
    {%- for name, risk in dbt_anonymize._journalist_risks(threshold).items() %}
    {{ risk | indent(4) }} as {{ name }}{{ "," if not loop.last }}
    {%- endfor %}
from classes
{%- endmacro %}


{#
  Aggregates over classes with `class_size` and `population_size`: NULL without a class or a population. The average is
  that of an attacker who picks a person of the population, or of one who picks a record of the relation: the larger.
#}
{% macro _journalist_risks(threshold=0.2) -%}
    {%- set one = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" -%}
    {{ return({
        "highest_risk": one ~ " / nullif(min(population_size), 0)",
        "average_risk": "greatest(\n    " ~ one ~ " * count(*) / nullif(sum(population_size), 0),\n    "
            ~ dbt_anonymize._marketer_risk() ~ "\n)",
        "lowest_risk": one ~ " / nullif(max(population_size), 0)",
        "share_at_risk": dbt_anonymize._share_at_risk("population_size", threshold),
    }) }}
{%- endmacro %}
