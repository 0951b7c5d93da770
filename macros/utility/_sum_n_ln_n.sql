{# The sum of n ln n, in which 0 counts nothing. #}
{% macro _sum_n_ln_n(count) -%}
    {{ return("coalesce(sum(" ~ count ~ " * ln(nullif(" ~ count ~ ", 0))), 0)") }}
{%- endmacro %}


{# A difference that is at least 0 but for rounding. #}
{% macro _not_negative(expression) -%}
    {{ return("case when " ~ expression ~ " > 0 then " ~ expression ~ " else 0 end") }}
{%- endmacro %}
