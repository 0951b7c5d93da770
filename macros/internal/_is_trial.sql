{# True for a run on none or some of the rows: it tries the SQL, and must not touch what is released or in the vault. #}
{% macro _is_trial() -%}
    {{ return(true if flags.EMPTY or flags.SAMPLE else false) }}
{%- endmacro %}
