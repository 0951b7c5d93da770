{# What an effort must keep: the guarantees without an effort, and its own, as those of a release. #}
{% macro _guarantees_of_effort(guarantees, effort) -%}
    {%- set kept = [] -%}
    {%- for guarantee in guarantees if not guarantee.effort or guarantee.effort == effort -%}
        {%- set parameters = {} -%}
        {%- for parameter, value in guarantee.items() if parameter != "effort" -%}
            {%- do parameters.update({parameter: value}) -%}
        {%- endfor -%}
        {%- do kept.append(parameters) -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}
