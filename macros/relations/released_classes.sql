{% macro released_classes(
    membership, microdata, classes, effort, quasi_identifiers, columns, sensitive, guarantees,
    sensitive_hierarchies={}, share=none
) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set measured = dbt_anonymize._measured_columns(sensitive, guarantees) -%}
{%- set places, labels, numbered, trees, kept = {}, [], [], {}, [] -%}
{%- for column in columns -%}{%- do places.update({column: "v_" ~ loop.index}) -%}{%- endfor -%}
{#- By number: whatever they are called, they are not taken for columns of our own. -#}
{%- for name in quasi_identifiers -%}
    {%- do labels.append({"name": "label_" ~ loop.index, "sql": "max(label_" ~ loop.index ~ ")"}) -%}
{%- endfor -%}
{%- for attribute in measured -%}
    {%- do numbered.append("a_" ~ loop.index) -%}
    {%- if attribute in sensitive_hierarchies -%}
        {%- do trees.update({"a_" ~ loop.index: sensitive_hierarchies[attribute]}) -%}
    {%- endif -%}
{%- endfor -%}
{%- for guarantee in guarantees -%}
    {%- set number = measured.index(guarantee.attribute) + 1 if guarantee.attribute in measured else none -%}
    {%- do kept.append(dict(guarantee, attribute="a_" ~ number) if number else guarantee) -%}
{%- endfor -%}
with

microdata as (

    select
        {%- for attribute in measured %}
        {{ dbt_anonymize._quote(attribute) }} as a_{{ loop.index }},
        {%- endfor %}
        {{ "sample_share" if share else "1 as sample_share" }}
    from {{ microdata }}

),
{{- dbt_anonymize._global_distributions(
    "microdata", numbered, kept, "table_", "count(*)", sensitive_hierarchies=trees, share=share
) }}

members_generalized as (

    select
        cqi as equivalence_class,
        {%- for name in quasi_identifiers %}
        {{ places[name] }} as label_{{ loop.index }},
        {%- endfor %}
        {%- for attribute in measured %}
        {{ places[attribute] }} as a_{{ loop.index }},
        {%- endfor %}
        1 as records
    from {{ membership }}
    where cqi is not null

),
{{- dbt_anonymize._class_measures(
    ["equivalence_class"], kept, numbered, prefix="members_", whole="table_", sensitive_hierarchies=trees,
    has_all_measures=true, further=labels
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
    found.label_{{ loop.index }} as {{ dbt_anonymize._quote(name) }},
    {%- endfor %}
    found.equivalence_class,
    found.class_size,
    found.records,
    classes.population_size
    {%- for attribute in measured %}
    {%- set own = dbt_anonymize._attribute_measures(numbered[loop.index0], kept, true) %}
    {%- for measure in dbt_anonymize._attribute_measures(attribute, guarantees, true) %},
    found.{{ dbt_anonymize._quote(own[loop.index0].column) }} as {{ dbt_anonymize._quote(measure.column) }}
    {%- endfor %}
    {%- endfor %}
from members_measures as found
left join classes on found.equivalence_class = classes.equivalence_class
{%- endmacro %}


{# Query of the classes of which `columns` are told where records wait: of the untouched table, and those released. #}
{% macro _told_classes(classes, released, columns) -%}
    {%- set listed = columns | join(", ") -%}
    {{ return(
        "select " ~ listed ~ " from " ~ classes ~ " where effort = 0 union all select " ~ listed ~ " from " ~ released
    ) }}
{%- endmacro %}
