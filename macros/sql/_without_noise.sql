{#
  A number to twelve decimals, or twelve digits if it is above 1: without the last bits of a mean, which depend on the
  order of its terms and would decide ties. The scaled number stays within the range of integers, which some engines
  round to.
#}
{% macro _without_noise(number) -%}
    {%- set scale = "power(10, 12 - ceil(log10(greatest(abs(" ~ number ~ "), 1))))" -%}
    {{ return("floor((" ~ number ~ ") * " ~ scale ~ " + 0.5) / " ~ scale) }}
{%- endmacro %}
