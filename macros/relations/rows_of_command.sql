{% macro rows_of_command(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "rows", "fingerprint", "columns", "key", "command",
], {
    "after": [],
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set rows_are_needed = dbt_anonymize._is_building() -%}
{%- if rows_are_needed -%}
    {%- do dbt_anonymize._check_rows_of_command(given.anonymization, given.rows, given.fingerprint, given.command) -%}
{%- endif -%}
{%- set is_empty = not rows_are_needed and dbt_anonymize._is_trial() -%}
select
    {%- for column, type in given.columns.items() %}
    {%- set value = "null" if is_empty else dbt_anonymize._quote(column) %}
    cast({{ value }} as {{ dbt_anonymize._type_of_kind(type) }}) as {{ dbt_anonymize._quote(column) }}
    {{- "," if not loop.last }}
    {%- endfor %}
{%- if is_empty %}
where 1 = 0
{%- else %}
from {{ given.rows }}
{#- A row without it says only of what the command has found nothing. #}
where {{ dbt_anonymize._quote(given.key) }} is not null
{%- endif %}
{%- endmacro %}


{# Rows of another spec, other hierarchies or other records say nothing about what is built now. #}
{% macro _check_rows_of_command(anonymization, rows, fingerprint, command) -%}
    {%- set remedy = " Run `" ~ command ~ "`, or `dbt-anonymize build " ~ anonymization ~ "`, which does both." -%}
    {%- if load_relation(rows) is none -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [rows ~ " does not exist." ~ remedy]) -%}
    {%- endif -%}
    {%- set counted = run_query(
        "select count(*), count(case when found.fingerprint = expected.fingerprint then 1 end) from " ~ rows
        ~ " as found cross join " ~ fingerprint ~ " as expected"
    ).rows[0] -%}
    {%- if counted[0] == 0 or counted[1] != counted[0] -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            rows ~ " must be of the spec, the hierarchies and the records as they are; it is of others." ~ remedy
        ]) -%}
    {%- endif -%}
{%- endmacro %}


{# The SQL type of a column that a command writes: of its kind, or one that holds the values of some columns. #}
{% macro _type_of_kind(kind) -%}
    {%- if kind is not string -%}
        {%- set types = [] -%}
        {%- for one in kind if execute -%}
            {%- for column in adapter.get_columns_in_relation(one.relation)
                if column.name | lower == one.column | lower -%}
                {%- do types.append(column.data_type) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- if types | unique | list | length < 2 -%}{{ return((types + [dbt.type_string()])[0]) }}{%- endif -%}
        {{ return(
            dbt.type_timestamp() if "timestamp" in types | join(" ") | lower else dbt_anonymize._type_double()
        ) }}
    {%- endif -%}
    {{ return({
        "whole": dbt.type_bigint(),
        "number": dbt_anonymize._type_double(),
        "text": dbt.type_string(),
        "boolean": "boolean",
    }[kind]) }}
{%- endmacro %}
