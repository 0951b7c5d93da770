{# The width of an interval as a double. Bounds of points in time are counted in seconds, of dates in days; numbers
   become doubles first, since their type may not hold the difference, and the engine's error would show them. #}
{% macro _width(lower, upper, hierarchy) -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set types = dbt_anonymize._bound_columns(hierarchy) | map(attribute="dtype") | map("lower") | list -%}
    {%- if "timestamp" in types | join(" ") -%}
        {{ return("cast(extract(epoch from " ~ upper ~ ") - extract(epoch from " ~ lower ~ ") as " ~ double ~ ")") }}
    {%- elif "date" in types or not types -%}
        {{ return("cast(" ~ upper ~ " - " ~ lower ~ " as " ~ double ~ ")") }}
    {%- endif -%}
    {{ return("(cast(" ~ upper ~ " as " ~ double ~ ") - cast(" ~ lower ~ " as " ~ double ~ "))") }}
{%- endmacro %}
