{# True for a run on none or some of the rows: it tries the SQL, and must not touch what is released or in the vault.
   dbt does not show `--sample` among its flags. #}
{% macro _is_trial() -%}
    {{ return(true if flags.EMPTY or invocation_args_dict.get("sample") else false) }}
{%- endmacro %}
