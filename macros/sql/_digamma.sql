{#
  digamma(x) for x > 0, exact to 1e-14: eight steps up by psi(x) = psi(x + 1) - 1/x, then the asymptotic expansion. The
  eight reciprocals are summed in pairs, 1/(x+i) + 1/(x+7-i) = (2x + 7) / ((x+i)(x+7-i)).
#}
{% macro _digamma(x) -%}
    {%- set y = "(" ~ x ~ " + 8)" -%}
    {%- set square = "(" ~ y ~ " * " ~ y ~ ")" -%}
    {{ return(
        "(ln(" ~ y ~ ") - 0.5 / " ~ y
        ~ " - (1e0 / 12 - (1e0 / 120 - (1e0 / 252 - (1e0 / 240 - (1e0 / 132 - 691e0 / 32760 / " ~ square
        ~ ") / " ~ square ~ ") / " ~ square ~ ") / " ~ square ~ ") / " ~ square ~ ") / " ~ square
        ~ " - (2 * " ~ x ~ " + 7) * (1 / (" ~ x ~ " * (" ~ x ~ " + 7)) + 1 / ((" ~ x ~ " + 1) * (" ~ x ~ " + 6))"
        ~ " + 1 / ((" ~ x ~ " + 2) * (" ~ x ~ " + 5)) + 1 / ((" ~ x ~ " + 3) * (" ~ x ~ " + 4))))"
    ) }}
{%- endmacro %}
