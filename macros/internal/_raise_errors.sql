{# Stops with all errors of one anonymization at once. #}
{% macro _raise_errors(anonymization, errors) -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            "anonymization " ~ anonymization ~ " is stopped; nothing is released and the earlier release is unchanged.\n  - "
            ~ errors | join("\n  - ")
        ) }}
    {%- endif -%}
{%- endmacro %}
