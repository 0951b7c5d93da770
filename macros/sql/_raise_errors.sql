{# Stops with all errors of one anonymization at once. #}
{% macro _raise_errors(anonymization, errors) -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            "anonymization " ~ anonymization ~ " is stopped; nothing is released and the earlier release is"
            ~ " unchanged.\n  - "
            ~ dbt_anonymize._shown(errors | join("\n  - "))
        ) }}
    {%- endif -%}
{%- endmacro %}


{# The one place where a text from outside becomes part of a message: a terminal obeys nothing within it. #}
{% macro _shown(text) -%}
    {%- set shown = namespace(text=text | string) -%}
    {%- for number in range(32) if number not in [9, 10] -%}
        {%- set shown.text = shown.text | replace("%c" | format(number), "\\x%02x" | format(number)) -%}
    {%- endfor -%}
    {%- for number in range(127, 160) -%}
        {%- set shown.text = shown.text | replace("%c" | format(number), "\\x%02x" | format(number)) -%}
    {%- endfor -%}
    {%- for number in [1564, 8206, 8207] + range(8232, 8239) | list + range(8294, 8298) | list -%}
        {%- set shown.text = shown.text | replace("%c" | format(number), "\\u%04x" | format(number)) -%}
    {%- endfor -%}
    {{ return(shown.text) }}
{%- endmacro %}
