{% macro microdata_of_parts(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["parts", "columns"]) -%}
{{ config(materialized="view") }}
select
    {%- for column in given.columns %}
    {{ dbt_anonymize._quote(column) }}{{ "," if not loop.last }}
    {%- endfor %}
from {{ given.parts }}
{%- endmacro %}
