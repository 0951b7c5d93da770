{#
  A select whose CTEs `names` are read often, or are small and joined with many rows. An engine that computes a CTE
  again for each mention, and joins it as if it were large, keeps them in scratch tables, one after the other, which
  `_after_steps` drops as a post-hook.
#}
{% macro _in_steps(names) -%}
    {{ return(adapter.dispatch("_in_steps", "dbt_anonymize")(names, caller())) }}
{%- endmacro %}

{% macro default___in_steps(names, sql) -%}{{ return(sql) }}{%- endmacro %}

{#
  No statistics are known of a CTE, and every join multiplies the error: hash tables are made for billions of rows, and
  loops for one. To sort takes about the same time whatever was expected. The settings end with the transaction.
#}
{% macro postgres___in_steps(names, sql) -%}
    {%- if dbt_anonymize._is_building() and names -%}
        {%- do dbt_anonymize._run_statements([
            "set local enable_hashjoin = off", "set local enable_nestloop = off", "set local jit = off"
        ]) -%}
    {%- endif -%}
    {{ return(sql) }}
{%- endmacro %}


{% macro _after_steps() -%}{{ return(adapter.dispatch("_after_steps", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___after_steps() -%}{{ return([]) }}{%- endmacro %}
