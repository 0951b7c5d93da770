{% macro table_labels(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["microdata", "dimensions", "efforts"]) -%}
{{ config(materialized="table") }}
with

{{ dbt_anonymize._labelled(given) }}

labels as (
    {%- for number, levels in given.efforts.items() %}
    {%- set is_last = loop.last %}
    {%- for dimension in given.dimensions %}

    select distinct
        {{ number }} as effort,
        {{ dbt_anonymize._literal(dimension.name) }} as dimension,
        label_{{ loop.index }}_{{ levels[loop.index0] }} as label,
        label_{{ loop.index }}_{{ given.efforts[0][loop.index0] }} as finest_label
    from generalized
    {{- "\n    union all" if not (is_last and loop.last) }}
    {%- endfor %}
    {%- endfor %}

)

select * from labels
{%- endmacro %}
