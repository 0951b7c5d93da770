{#
  A share without the noise of its last bits: 0 instead of 1.1e-16 where nothing is lost. Only for what lies near
  [0, 1], where 1e-12 is far below what anybody reads: what grows with the records (discernibility, bits) would leave
  the range of floor in engines where that is an integer, and has no twelve decimals to keep. NULL stays NULL.
#}
{% macro _rounded(expression) -%}
    {{ return("floor((" ~ expression ~ ") * 1e12 + 0.5) / 1e12") }}
{%- endmacro %}
