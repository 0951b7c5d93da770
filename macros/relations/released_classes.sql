{% macro released_classes(
    membership, microdata, classes, effort, quasi_identifiers, columns, sensitive, guarantees,
    sensitive_hierarchies={}, share=none
) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set measured = dbt_anonymize._measured_columns(sensitive, guarantees) -%}
{%- set places = {} -%}
{%- for column in columns -%}{%- do places.update({column: "v_" ~ loop.index}) -%}{%- endfor -%}
{%- set labels = [] -%}
{%- for name in quasi_identifiers -%}
    {%- do labels.append({"name": name, "sql": "max(label_" ~ loop.index ~ ")"}) -%}
{%- endfor -%}
with

microdata as (

    select
        {%- for attribute in measured %}
        {{ dbt_anonymize._quote(attribute) }},
        {%- endfor %}
        {{ "sample_share" if share else "1 as sample_share" }}
    from {{ microdata }}

),
{{- dbt_anonymize._global_distributions(
    "microdata", measured, guarantees, "table_", "count(*)", sensitive_hierarchies=sensitive_hierarchies, share=share
) }}

members_generalized as (

    select
        cqi as equivalence_class,
        {%- for name in quasi_identifiers %}
        {{ places[name] }} as label_{{ loop.index }},
        {%- endfor %}
        {%- for attribute in measured %}
        {{ places[attribute] }} as {{ dbt_anonymize._quote(attribute) }},
        {%- endfor %}
        1 as records
    from {{ membership }}
    where cqi is not null

),
{{- dbt_anonymize._class_measures(
    ["equivalence_class"], guarantees, measured, prefix="members_", whole="table_",
    sensitive_hierarchies=sensitive_hierarchies, has_all_measures=true, further=labels
) }}
{#- The population of a class is that of its labels, whoever of them is released. #}

classes as (

    select
        equivalence_class,
        population_size
    from {{ classes }}
    where effort = {{ effort }}

)

select
    cast({{ effort }} as {{ dbt.type_int() }}) as effort,
    {%- for name in quasi_identifiers %}
    found.{{ dbt_anonymize._quote(name) }},
    {%- endfor %}
    found.equivalence_class,
    found.class_size,
    found.records,
    classes.population_size
    {%- for attribute in measured %}
    {%- for measure in dbt_anonymize._attribute_measures(attribute, guarantees, true) %},
    found.{{ dbt_anonymize._quote(measure.column) }}
    {%- endfor %}
    {%- endfor %}
from members_measures as found
left join classes on found.equivalence_class = classes.equivalence_class
{%- endmacro %}


{# Query of the classes of which `columns` are told: those that are released, where that is another relation. #}
{% macro _told_classes(classes, released, columns) -%}
    {%- set listed = columns | join(", ") -%}
    {%- set told = "select " ~ listed ~ " from " ~ classes ~ " where not is_suppressed" -%}
    {%- if released -%}
        {%- set told = told ~ " and effort = 0 union all select " ~ listed ~ " from " ~ released -%}
    {%- endif -%}
    {{ return(told) }}
{%- endmacro %}
