{% macro frequencies(
    microdata, quasi_identifiers, sensitive, target, has_subject=false, has_sample=false, further_targets=[]
) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set columns = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
    {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name ~ "_leaf")) -%}
{%- endfor -%}
{%- for column in (sensitive + [target] + further_targets) | unique(case_sensitive=true) -%}
    {%- if dbt_anonymize._quote(column) not in columns -%}
        {%- do columns.append(dbt_anonymize._quote(column)) -%}
    {%- endif -%}
{%- endfor -%}
{%- if has_subject -%}
    {%- do columns.append("subject") -%}
{%- endif -%}
{%- if has_sample -%}
    {%- do columns.append("sample_share") -%}
{%- endif -%}
with

microdata as (

    select * from {{ microdata }}

)

select
    {{ columns | join(",\n    ") }},
    count(*) as records
from microdata
group by
    {{ columns | join(",\n    ") }}
{%- endmacro %}
