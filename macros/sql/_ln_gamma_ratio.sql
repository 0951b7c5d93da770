{#
  ln(gamma(y) / gamma(y - m)) for y > m >= 0, without the digits that a difference of large logarithms loses: eight
  steps up, then Stirling's series; ln(y / (y - m)) by its own series where it is small.
#}
{% macro _ln_gamma_ratio(y, m) -%}
    {%- set upper = "(" ~ y ~ " + 8.0)" -%}
    {%- set lower = "(" ~ y ~ " - " ~ m ~ " + 8.0)" -%}
    {%- set q = "(" ~ m ~ " / (" ~ upper ~ " + " ~ lower ~ "))" -%}
    {%- set square = "(" ~ q ~ " * " ~ q ~ ")" -%}
    {%- set above, below = [], [] -%}
    {%- for step in range(8) -%}
        {%- do above.append("(" ~ y ~ " + " ~ step ~ ".0)") -%}
        {%- do below.append("(" ~ y ~ " - " ~ m ~ " + " ~ step ~ ".0)") -%}
    {%- endfor -%}
    {{ return(
        "((" ~ lower ~ " - 0.5) * case when " ~ q ~ " < 0.03"
        ~ " then 2 * " ~ q ~ " * (1 + " ~ square ~ " * (1e0 / 3 + " ~ square ~ " * (1e0 / 5 + " ~ square
        ~ " * (1e0 / 7 + " ~ square ~ " / 9)))) else ln(" ~ upper ~ " / " ~ lower ~ ") end"
        ~ " + " ~ m ~ " * (ln(" ~ upper ~ ") - 1)"
        ~ " + (1 / " ~ upper ~ " - 1 / " ~ lower ~ ") / 12"
        ~ " - (power(1 / " ~ upper ~ ", 3) - power(1 / " ~ lower ~ ", 3)) / 360"
        ~ " + (power(1 / " ~ upper ~ ", 5) - power(1 / " ~ lower ~ ", 5)) / 1260"
        ~ " - ln(" ~ above | join(" * ") ~ ") + ln(" ~ below | join(" * ") ~ "))"
    ) }}
{%- endmacro %}
