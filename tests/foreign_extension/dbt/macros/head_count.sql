{% macro head_count(classes, name) -%}
select avg(class_size) as {{ adapter.quote(name) }} from {{ classes }} where effort > 0
{%- endmacro %}
