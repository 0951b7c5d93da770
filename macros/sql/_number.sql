{# The one place where a number becomes SQL: a plain decimal, exact there. 7e-05 would be a binary fraction, just below
   it. #}
{% macro _number(value) -%}
    {%- set parts = (value | string | lower).split("e") -%}
    {%- if value is not number or parts | length == 1 -%}{{ return(value | string) }}{%- endif -%}
    {%- set decimals = (parts[0] ~ ".").split(".")[1] | length - parts[1] | int -%}
    {{ return(("%." ~ [decimals, 0] | max ~ "f") | format(value)) }}
{%- endmacro %}
