{% macro table_labels(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["microdata", "dimensions", "efforts"]) -%}
{{ config(materialized="table") }}
with

{{ dbt_anonymize._labelled(given.microdata, given.dimensions, given.efforts) }}

labels as (
    {%- for number, levels in given.efforts.items() %}
    {%- set is_last = loop.last %}
    {%- for dimension in given.dimensions %}
    {%- set place, is_last_of_effort = loop.index, loop.last %}
    {%- for level in levels[place - 1] %}

    select distinct
        {{ number }} as effort,
        {{ dbt_anonymize._literal(dimension.name) }} as dimension,
        {{ level }} as level,
        label_{{ place }}_{{ level }} as label,
        label_{{ place }}_{{ given.efforts[0][place - 1][0] }} as finest_label
    from generalized
    {{- "\n    union all" if not (is_last and is_last_of_effort and loop.last) }}
    {%- endfor %}
    {%- endfor %}
    {%- endfor %}

)

select * from labels
{%- endmacro %}


{#
  CTEs that end in `generalized`: every record with the labels of its dimensions at all levels that efforts have,
  `label_<place>_<level>`. `counted`: what is selected beside, see `_counted_of_records`.
#}
{% macro _labelled(microdata, dimensions, efforts, counted={"columns": [], "selected": [], "joins": ""}) -%}
{%- set generalized, selected, plain = [], counted.selected | list, [] -%}
{%- for dimension in dimensions -%}
    {%- set place, column = loop.index, dbt_anonymize._quote(dimension.name, "microdata") -%}
    {%- set levels = [] -%}
    {%- for of_effort in efforts.values() -%}{%- do levels.extend(of_effort[place - 1]) -%}{%- endfor -%}
    {%- for level in levels | unique | sort -%}
        {%- set label = "label_" ~ place ~ "_" ~ level -%}
        {%- if dimension.hierarchy is defined -%}
            {%- do generalized.append({
                "name": label, "kind": dimension.kind, "hierarchy": dimension.hierarchy, "level": level
            }) -%}
            {%- do selected.append(column ~ " as " ~ label) -%}
            {%- do selected.append(
                dbt_anonymize._quote(dimension.name ~ "_leaf", "microdata") ~ " as " ~ label ~ "_leaf"
            ) -%}
        {%- else -%}
            {%- do plain.append(label) -%}
            {%- do selected.append("coalesce(" ~ dbt_anonymize._as_text(column) ~ ", '*') as " ~ label) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endfor -%}
labelled as (

    select
        {{ selected | join(",\n        ") }}
    from {{ microdata }} as microdata
    {{- "\n    " ~ counted.joins if counted.joins }}

),

{{- dbt_anonymize.generalize("labelled", generalized, counted.columns + plain) }}
{%- endmacro %}
