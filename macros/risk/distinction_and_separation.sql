{# Select with one row: `distinction`, `separation` and `uniqueness` of one set of columns. #}
{% macro distinction_and_separation(relation, quasi_identifiers, subject=none) -%}
with

classes as (

    {{ dbt_anonymize._risk_classes(relation, quasi_identifiers, subject) | indent(4) }}

)

select
    {{ dbt_anonymize._distinction_and_separation() }}
from classes
{%- endmacro %}


{# Aggregates over classes with `class_size`, one column each. NULL where there is no record, or no pair of them. #}
{% macro _distinction_and_separation() -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set subjects = "cast(sum(class_size) as " ~ double ~ ")" -%}
cast(count(*) as {{ double }}) / nullif({{ subjects }}, 0) as distinction,
    1 - sum(cast(class_size as {{ double }}) * (class_size - 1))
    / nullif({{ subjects }} * ({{ subjects }} - 1), 0) as separation,
    {{ dbt_anonymize._share_of_size_one("class_size") }} as uniqueness
{%- endmacro %}
