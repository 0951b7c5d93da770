{#
  Body of the linked records of an effort in one table: key, where it leads, and its labels as one text, and so those
  one level up.
#}
{% macro linked_values(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["tables"], {}) -%}
{{ config(materialized="view") }}
{%- set sensitive = given.tables | map(attribute="sensitive", default=[]) | map("length") | max -%}
with
{%- for table in given.tables %}
{%- set rows = "rows_" ~ loop.index %}

{{ rows }} as (

    select
        *
        {{- dbt_anonymize._raised_columns(table.quasi_identifiers) }}
    from {{ table.relation }}

),
{{- dbt_anonymize.generalize(
    rows, table.quasi_identifiers + dbt_anonymize._raised(table.quasi_identifiers),
    [table.key, table.parent] + table.get("sensitive", []),
    "table_" ~ loop.index ~ "_"
) }}
{%- endfor %}

linked_values as (
    {%- for table in given.tables %}

    select
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(table.name)) }} as linked_table,
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(table.key)) }} as record,
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(table.parent)) }} as parent,
        {{ dbt_anonymize._shown_value(table.quasi_identifiers) | indent(8) }} as value,
        {{ dbt_anonymize._shown_value(dbt_anonymize._raised(table.quasi_identifiers)) | indent(8) }} as raised_value
        {%- for number in range(sensitive) %},
        {%- set held = table.sensitive[number:number + 1] %}
        {{ dbt_anonymize._class_text(held) if held else dbt_anonymize._as_text("null") -}}
        {{ " as sensitive_" ~ (number + 1) }}
        {%- endfor %}
    from table_{{ loop.index }}_generalized
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

)

select * from linked_values
{%- endmacro %}
