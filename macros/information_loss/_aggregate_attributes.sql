{# One number from a number for each quasi-identifier; NULL where one of them is. It is 1 where each of them is,
   whatever their weights are; of a sum, as many as there are. #}
{% macro _aggregate_attributes(expressions, quasi_identifiers, aggregate) -%}
    {%- set weights = dbt_anonymize._attribute_weights(quasi_identifiers, aggregate) -%}
    {%- set weighted = [] -%}
    {%- for expression in expressions -%}
        {%- set weight = weights[loop.index0] -%}
        {%- if aggregate == "geometric_mean" -%}
            {%- set factor = "1 + " ~ expression -%}
            {%- do weighted.append("(" ~ factor ~ ")" if weight == "1" else "power(" ~ factor ~ ", " ~ weight ~ ")") -%}
        {%- else -%}
            {%- do weighted.append(dbt_anonymize._times(weight, expression)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set number = expressions | length -%}
    {%- if aggregate == "sum" -%}
        {{ return(weighted | join(" + ")) }}
    {%- elif aggregate == "arithmetic_mean" -%}
        {{ return("(" ~ weighted | join(" + ") ~ ") / " ~ number) }}
    {%- elif aggregate == "geometric_mean" -%}
        {%- set root = "cast(1 as " ~ dbt_anonymize._type_double() ~ ") / " ~ number -%}
        {{ return("power(" ~ weighted | join(" * ") ~ ", " ~ root ~ ") - 1") }}
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


{# The weight of each quasi-identifier as an SQL expression, 1 where none is declared: relative to their mean where
   losses are added up, and to the largest where they are compared. #}
{% macro _attribute_weights(quasi_identifiers, aggregate) -%}
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
        {{ exceptions.raise_compiler_error(
            "at least one quasi-identifier must have a weight > 0. Correct the weights in the spec."
        ) }}
    {%- endif -%}
    {%- if weights | min == largest -%}{{ return(["1"] * weights | length) }}{%- endif -%}
    {%- set numbers = [] -%}
    {%- for weight in weights -%}{%- do numbers.append(dbt_anonymize._number(weight)) -%}{%- endfor -%}
    {%- set whole = dbt_anonymize._number(largest) if aggregate == "maximum" else "(" ~ numbers | join(" + ") ~ ")" -%}
    {%- set relative = [] -%}
    {%- for number in numbers -%}
        {%- set weight = "cast(" ~ number ~ " as " ~ dbt_anonymize._type_double() ~ ")" -%}
        {%- set share = weight ~ " / " ~ whole -%}
        {%- do relative.append("(" ~ (share if aggregate == "maximum" else weights | length ~ " * " ~ share) ~ ")") -%}
    {%- endfor -%}
    {{ return(relative) }}
{%- endmacro %}
