{# Select with one row: `highest_risk`, `average_risk`, `lowest_risk` and `share_at_risk`. #}
{% macro prosecutor_risk(relation, quasi_identifiers, subject=none, threshold=0.2) -%}
with

classes as (

    {{ dbt_anonymize._risk_classes(relation, quasi_identifiers, subject) | indent(4) }}

)

select
    {%- for name, risk in dbt_anonymize._prosecutor_risks(threshold).items() %}
    {{ risk | indent(4) }} as {{ name }}{{ "," if not loop.last }}
    {%- endfor %}
from classes
{%- endmacro %}


{# Aggregates over classes with `class_size`: NULL without a class. #}
{% macro _prosecutor_risks(threshold=0.2) -%}
    {%- set one = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" -%}
    {{ return({
        "highest_risk": one ~ " / min(class_size)",
        "average_risk": one ~ " * count(*) / nullif(sum(class_size), 0)",
        "lowest_risk": one ~ " / max(class_size)",
        "share_at_risk": dbt_anonymize._share_at_risk("class_size", threshold),
    }) }}
{%- endmacro %}
