{# The sum of n ln n, in which 0 counts nothing; of the rows that meet a condition, if there is one. #}
{% macro _sum_n_ln_n(count, condition=none) -%}
    {%- set term = count ~ " * ln(nullif(" ~ count ~ ", 0))" -%}
    {%- set counted = "case when " ~ condition ~ " then " ~ term ~ " end" if condition else term -%}
    {{ return("coalesce(sum(" ~ counted ~ "), 0)") }}
{%- endmacro %}


{# A difference of two such sums that is at least 0: what is no more than their rounding is 0. Two records that labels
   no longer separate make more than that in a table of ten billion. #}
{% macro _difference(minuend, subtrahend) -%}
    {%- set difference = minuend ~ " - " ~ subtrahend -%}
    {{ return("case when " ~ difference ~ " > 1e-12 * " ~ minuend ~ " then " ~ difference ~ " else 0 end") }}
{%- endmacro %}
