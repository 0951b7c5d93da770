{# Exact up to ten degrees of freedom, then the Cornish-Fisher expansion (error below 2e-4). #}
{% macro student_t_quantile(degrees_of_freedom) -%}
    {%- set df = "(" ~ degrees_of_freedom ~ ")" -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set exact = [12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139] -%}
case {{ df }}
    {%- for quantile in exact %}
    when {{ loop.index }} then {{ quantile }}
    {%- endfor %}
    else
        1.959964
        + 2.372271 / nullif(cast({{ df }} as {{ double }}), 0)
        + 2.822499 / nullif(power(cast({{ df }} as {{ double }}), 2), 0)
        + 2.555850 / nullif(power(cast({{ df }} as {{ double }}), 3), 0)
end
{%- endmacro %}
