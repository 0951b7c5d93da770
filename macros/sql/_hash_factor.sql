{# A number below 2^31 by which codes are multiplied before they are summed (Carter and Wegman 1979). #}
{% macro _hash_factor(position) -%}
    {%- set factors = [
        1540483477, 1103515245, 2135587861, 1597334677, 1812433253,
        1664525693, 1299827461, 2027808481, 1925078383, 1183186591
    ] -%}
    {{ return("cast(" ~ factors[position % 10] ~ " as " ~ dbt.type_bigint() ~ ")") }}
{%- endmacro %}
