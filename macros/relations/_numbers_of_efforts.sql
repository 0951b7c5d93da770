{# One row per effort, also where there is no record of it. #}
{% macro _numbers_of_efforts(efforts) -%}
{%- for effort in efforts -%}
select {{ effort }} as effort
{{- "\nunion all\n" if not loop.last }}
{%- endfor %}
{%- endmacro %}
