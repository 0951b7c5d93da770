{% macro microdata_of_parts(parts, columns) -%}
{{ config(materialized="view") }}
select
    {%- for column in columns %}
    {{ dbt_anonymize._quote(column) }}{{ "," if not loop.last }}
    {%- endfor %}
from {{ parts }}
{%- endmacro %}
