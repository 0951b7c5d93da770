{#
  The guarantee of a macro or test that somebody called, after its errors are raised. A spec is checked before it
  becomes SQL, so nothing else is checked here.
    parameters  {name: [value, rule]}; a rule is one of those below, or a list of what may be chosen, and `or none`
                says that it may be left out. What is none is not in the guarantee.
    together    [[whether it is kept, rule], ...], rules of several parameters
#}
{% macro _checked_guarantee(name, parameters, together=[]) -%}
    {%- set guarantee, errors = {"model": name}, [] -%}
    {%- for parameter, checked in parameters.items() -%}
        {%- set value, rule = checked[0], checked[1] -%}
        {%- if value is not none -%}{%- do guarantee.update({parameter: value}) -%}{%- endif -%}
        {%- if not dbt_anonymize._is_kept(value, rule) -%}
            {%- set text = rule if rule is string else "one of " ~ rule | join(", ") -%}
            {%- do errors.append("`" ~ parameter ~ "` must be " ~ text ~ "; got: " ~ value) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for kept, rule in together if not kept -%}
        {%- set given = guarantee.keys() | reject("equalto", "model") | join(", ") -%}
        {%- do errors.append("it must " ~ rule ~ "; got: " ~ given) -%}
    {%- endfor -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": " ~ errors | join("; ") ~ ". Correct the arguments of " ~ name ~ "."
        ) }}
    {%- endif -%}
    {{ return(guarantee) }}
{%- endmacro %}


{# Whether a value keeps the rule of a parameter. #}
{% macro _is_kept(value, rule) -%}
    {%- if rule is not string -%}{{ return(value in rule) }}{%- endif -%}
    {%- if value is none -%}{{ return(rule.endswith(" or none")) }}{%- endif -%}
    {%- set number = value if value is number and value is not boolean else none -%}
    {{ return({
        "the name of a column": value is string and value != "",
        "a list of at least one value":
            value is iterable and value is not string and value is not mapping and value | list | length > 0,
        "an integer >= 2": number is not none and number == number | int and number >= 2,
        "a number > 1": number is not none and number > 1,
        "a number >= 0": number is not none and number >= 0,
        "a number > 0": number is not none and number > 0,
        "a number > 0 and < 1": number is not none and 0 < number and number < 1,
        "a number > 0 and <= 1": number is not none and 0 < number and number <= 1,
        "a number >= 0 and <= 1": number is not none and 0 <= number and number <= 1,
        "a number >= 0 and < 1": number is not none and 0 <= number and number < 1,
    }[rule.removesuffix(" or none")]) }}
{%- endmacro %}


{# An estimate needs the number of people in the population. #}
{% macro _check_population_size(name, population_size) -%}
    {%- if population_size is not integer or population_size is boolean or population_size < 1 -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": " ~ name ~ " must have `population_size`, the number of people in the population, as an"
            ~ " integer >= 1; got: " ~ population_size ~ ". Set it (in a spec: population.size)."
        ) }}
    {%- endif -%}
{%- endmacro %}
