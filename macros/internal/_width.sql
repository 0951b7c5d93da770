{# The width of an interval as a double. Bounds of points in time are counted in seconds. #}
{% macro _width(lower, upper, hierarchy) -%}
    {%- set types = {} -%}
    {%- for column in (adapter.get_columns_in_relation(hierarchy) if execute else []) -%}
        {%- do types.update({column.name | lower: column.dtype | lower}) -%}
    {%- endfor -%}
    {%- set difference = upper ~ " - " ~ lower -%}
    {%- if "timestamp" in types.get("lower_bound", "") or "timestamp" in types.get("upper_bound", "") -%}
        {%- set difference = "extract(epoch from " ~ upper ~ ") - extract(epoch from " ~ lower ~ ")" -%}
    {%- endif -%}
    {{ return("cast(" ~ difference ~ " as " ~ dbt_anonymize._type_double() ~ ")") }}
{%- endmacro %}
