{% macro released_classes(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "membership", "microdata", "classes", "effort", "quasi_identifiers", "columns", "sensitive", "guarantees",
], {
    "sensitive_hierarchies": {}, "share": none,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set measured = dbt_anonymize._measured_columns(given.sensitive, given.guarantees) -%}
{%- set by_number = dbt_anonymize._by_number(measured, given.guarantees, given.sensitive_hierarchies) -%}
{%- set places, labels = {}, [] -%}
{%- for column in given.columns -%}{%- do places.update({column: "v_" ~ loop.index}) -%}{%- endfor -%}
{#- By number: whatever they are called, they are not taken for columns of our own. -#}
{%- for name in given.quasi_identifiers -%}
    {%- do labels.append({"name": "label_" ~ loop.index, "sql": "max(label_" ~ loop.index ~ ")"}) -%}
{%- endfor -%}
with

{{ dbt_anonymize._numbered_distributions(given.microdata, measured, by_number, given.share) }}

members_generalized as (

    select
        cqi as equivalence_class,
        {%- for name in given.quasi_identifiers %}
        {{ places[name] }} as label_{{ loop.index }},
        {%- endfor %}
        {%- for attribute in measured %}
        {{ places[attribute] }} as a_{{ loop.index }},
        {%- endfor %}
        1 as records
    from {{ given.membership }}
    where cqi is not null

),
{{- dbt_anonymize._class_measures({
    "grouped_by": ["equivalence_class"],
    "guarantees": by_number.kept,
    "attributes": by_number.numbered,
    "prefix": "members_",
    "whole": "table_",
    "sensitive_hierarchies": by_number.trees,
    "has_all_measures": true,
    "further": labels,
}) }}
{#- The population of a class is that of its labels, whoever of them is released. #}

classes as (

    select
        equivalence_class,
        population_size
    from {{ given.classes }}
    where effort = {{ given.effort }}

)

select
    cast({{ given.effort }} as {{ dbt.type_int() }}) as effort,
    {%- for name in given.quasi_identifiers %}
    found.label_{{ loop.index }} as {{ dbt_anonymize._quote(name) }},
    {%- endfor %}
    found.equivalence_class,
    found.class_size,
    found.records,
    classes.population_size
    {%- for attribute in measured %}
    {%- set own = dbt_anonymize._attribute_measures(by_number.numbered[loop.index0], by_number.kept, true) %}
    {%- for measure in dbt_anonymize._attribute_measures(attribute, given.guarantees, true) %},
    found.{{ dbt_anonymize._quote(own[loop.index0].column) }} as {{ dbt_anonymize._quote(measure.column) }}
    {%- endfor %}
    {%- endfor %}
from members_measures as found
left join classes on found.equivalence_class = classes.equivalence_class
{%- endmacro %}
