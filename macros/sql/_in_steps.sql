{#
  A select whose CTEs `names` are read often. An engine that computes a CTE again for each mention keeps them in scratch
  tables, one after the other, which `_after_steps` drops as a post-hook.
#}
{% macro _in_steps(names) -%}
    {{ return(adapter.dispatch("_in_steps", "dbt_anonymize")(names, caller())) }}
{%- endmacro %}

{% macro default___in_steps(names, sql) -%}{{ return(sql) }}{%- endmacro %}


{% macro _after_steps() -%}{{ return(adapter.dispatch("_after_steps", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___after_steps() -%}{{ return([]) }}{%- endmacro %}
