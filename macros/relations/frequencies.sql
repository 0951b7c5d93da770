{% macro frequencies(given=none, more={}) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "microdata", "quasi_identifiers", "sensitive", "target",
], {
    "has_subject": false, "has_sample": false, "further_targets": [],
}) -%}
{%- set more = dbt_anonymize._more(more) -%}
{%- set columns = [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
    {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name ~ "_leaf")) -%}
{%- endfor -%}
{%- set targets = ([given.target] if given.target else []) + given.further_targets -%}
{%- for column in (given.sensitive + targets) | unique(case_sensitive=true) -%}
    {%- if dbt_anonymize._quote(column) not in columns -%}
        {%- do columns.append(dbt_anonymize._quote(column)) -%}
    {%- endif -%}
{%- endfor -%}
{%- if given.has_subject -%}
    {%- do columns.append("subject") -%}
{%- endif -%}
{%- if given.has_sample -%}
    {%- do columns.append("sample_share") -%}
{%- endif -%}
{%- set rows = dbt_anonymize._frequencies_rows(given.microdata, columns, more) -%}
{{ config(
    materialized=more.materialized,
    meta={
        "dbt_anonymize": dbt_anonymize._filled_in(more.meta, {"definition": local_md5(rows)}),
    } if more.meta else {},
    post_hook=more.checks + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._expect_many_rows() -%}
{{ rows }}
{%- endmacro %}


{% macro _frequencies_rows(microdata, columns, more) -%}
with

microdata as (

    select * from {{ microdata }}
    {%- if more.condition %}
    where {{ more.condition }}
    {%- endif %}

)

select
    {{ columns | join(",\n    ") }},
    {{ more.records }} as records
    {%- for column in more.columns %},
    {{ column }}
    {%- endfor %}
from microdata
group by
    {{ (columns + more.groups) | join(",\n    ") }}
{%- endmacro %}
