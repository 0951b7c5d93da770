{# The one place where a text becomes an SQL string literal. #}
{% macro _literal(value) -%}
    {{ return(adapter.dispatch("_literal", "dbt_anonymize")(value | string)) }}
{%- endmacro %}

{% macro default___literal(value) -%}
    {{ return("'" ~ value | replace("'", "''") ~ "'") }}
{%- endmacro %}

{# Where a backslash begins an escape, one at the end of a value would take the closing quote with it. #}
{% macro _escaped_literal(value) -%}
    {{ return("'" ~ value | replace("\\", "\\\\") | replace("'", "\\'") ~ "'") }}
{%- endmacro %}

{% macro snowflake___literal(value) -%}{{ return(dbt_anonymize._escaped_literal(value)) }}{%- endmacro %}

{% macro bigquery___literal(value) -%}
    {{ return(dbt_anonymize._escaped_literal(value) | replace("\n", "\\n") | replace("\r", "\\r")) }}
{%- endmacro %}


{# Several, separated by commas. #}
{% macro _literals(values) -%}
    {%- set literals = [] -%}
    {%- for value in values -%}{%- do literals.append(dbt_anonymize._literal(value)) -%}{%- endfor -%}
    {{ return(literals | join(", ")) }}
{%- endmacro %}
