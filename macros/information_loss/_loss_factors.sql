{# What a generalized and what a suppressed record cost, as SQL expressions: 1 and 1 at 0.5, below it suppression is
   cheaper, above it generalization. Written as decimals, where 2 - 2 * 0.7 is 0.6. #}
{% macro _loss_factors(generalization_suppression_factor) -%}
    {%- set gs = generalization_suppression_factor -%}
    {%- if gs is not number or gs is boolean or gs < 0 or gs > 1 -%}
        {{ exceptions.raise_compiler_error(
            "`generalization_suppression_factor` must be a number from 0 to 1; got: " ~ gs
            ~ ". Set information_loss.generalization_suppression_factor in the spec; 0.5 weighs both alike."
        ) }}
    {%- endif -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set number = dbt_anonymize._number(gs) -%}
    {{ return({
        "generalization": "1" if gs <= 0.5 else "cast(2 - 2 * " ~ number ~ " as " ~ double ~ ")",
        "suppression": "1" if gs >= 0.5 else "cast(2 * " ~ number ~ " as " ~ double ~ ")",
    }) }}
{%- endmacro %}


{# The product of a factor and an expression, without a factor of 1. #}
{% macro _times(factor, expression) -%}
    {{ return(expression if factor == "1" else factor ~ " * " ~ expression) }}
{%- endmacro %}
