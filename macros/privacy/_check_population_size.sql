{# An estimate needs the number of people in the population. #}
{% macro _check_population_size(name, population_size) -%}
    {%- if population_size is not integer or population_size is boolean or population_size < 1 -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": " ~ name ~ " must have `population_size`, the number of people in the population, as an integer >= 1; got: "
            ~ population_size ~ ". Set it (in a spec: population.size)."
        ) }}
    {%- endif -%}
{%- endmacro %}
