{# Settings of the engine under which the promises do not hold, as messages. #}
{% macro _setting_errors() -%}
    {{ return(adapter.dispatch("_setting_errors", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___setting_errors() -%}{{ return([]) }}{%- endmacro %}

{% macro duckdb___setting_errors() -%}
    {%- set settings = run_query(
        "select current_setting('default_collation'), current_setting('preserve_insertion_order'),"
        ~ " current_setting('default_order')"
    ).rows[0] -%}
    {%- set errors = [] -%}
    {%- if settings[0] and settings[0] | lower != "binary" -%}
        {%- do errors.append(
            "default_collation must be binary, or texts that look different count as one class; got " ~ settings[0]
            ~ ". Remove it from the settings of the profile."
        ) -%}
    {%- endif -%}
    {%- if settings[1] | string | lower not in ["true", "1"] -%}
        {%- do errors.append(
            "preserve_insertion_order must be true, or the order of the released rows is not that of their values; got "
            ~ settings[1] ~ ". Remove it from the settings of the profile."
        ) -%}
    {%- endif -%}
    {%- if settings[2] | string | lower not in ["asc", "ascending"] -%}
        {%- do errors.append(
            "default_order must be ascending, since bounds and values are compared with those that come before; got "
            ~ settings[2] ~ ". Remove it from the settings of the profile."
        ) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}
