{# Written by `make reference`: the extension of each adapter, if it is here or not. #}
{% macro _extensions_of_adapters() -%}
    {{ return({
        "postgres": "postgres",
        "spark": "spark",
    }) }}
{%- endmacro %}
