{# One number from a number for each quasi-identifier; NULL where one of them is. Weights are relative to the largest,
   so that 2 and 2 weigh like 1 and 1. #}
{% macro _aggregate_attributes(expressions, quasi_identifiers, aggregate) -%}
    {%- set weights = dbt_anonymize._attribute_weights(quasi_identifiers) -%}
    {%- set weighted = [] -%}
    {%- for expression in expressions -%}
        {%- do weighted.append(dbt_anonymize._times(weights[loop.index0], expression)) -%}
    {%- endfor -%}
    {%- set number = expressions | length -%}
    {%- if aggregate == "sum" -%}
        {{ return(weighted | join(" + ")) }}
    {%- elif aggregate == "arithmetic_mean" -%}
        {{ return("(" ~ weighted | join(" + ") ~ ") / " ~ number) }}
    {%- elif aggregate == "geometric_mean" -%}
        {{ return(
            "power((1 + " ~ weighted | join(") * (1 + ") ~ "), cast(1 as " ~ dbt_anonymize._type_double() ~ ") / " ~ number ~ ") - 1"
        ) }}
    {%- elif aggregate == "maximum" and number == 1 -%}
        {{ return(weighted[0]) }}
    {%- elif aggregate == "maximum" -%}
        {#- Some engines leave NULL out of greatest. -#}
        {{ return(
            "case when " ~ expressions | join(" + ") ~ " is not null then greatest(" ~ weighted | join(", ") ~ ") end"
        ) }}
    {%- endif -%}
    {{ exceptions.raise_compiler_error(
        "`aggregate` must be sum, maximum, arithmetic_mean or geometric_mean; got: " ~ aggregate
        ~ ". Correct information_loss.aggregate in the spec."
    ) }}
{%- endmacro %}


{# The weight of each quasi-identifier as an SQL expression; 1 where none is declared. #}
{% macro _attribute_weights(quasi_identifiers) -%}
    {%- set weights = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set weight = quasi_identifier.get("weight", 1) -%}
        {%- if weight is not number or weight is boolean or weight < 0 -%}
            {{ exceptions.raise_compiler_error(
                "`weight` of the quasi-identifier " ~ quasi_identifier.name ~ " must be a number >= 0; got: " ~ weight
                ~ ". Correct it in the spec."
            ) }}
        {%- endif -%}
        {%- do weights.append(weight) -%}
    {%- endfor -%}
    {%- set largest = weights | max -%}
    {%- if not largest > 0 -%}
        {{ exceptions.raise_compiler_error("at least one quasi-identifier must have a weight > 0. Correct the weights in the spec.") }}
    {%- endif -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set relative = [] -%}
    {%- for weight in weights -%}
        {%- do relative.append("1" if weight == largest else "(cast(" ~ weight ~ " as " ~ double ~ ") / " ~ largest ~ ")") -%}
    {%- endfor -%}
    {{ return(relative) }}
{%- endmacro %}
