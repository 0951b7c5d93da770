{# SQL that a macro of dbt breaks into lines, as one line. #}
{% macro _on_one_line(sql) -%}
    {%- set line = sql.split() | join(" ") | replace("( ", "(") | replace(" )", ")") -%}
    {{ return(line | replace("[ ", "[") | replace(" ]", "]")) }}
{%- endmacro %}
