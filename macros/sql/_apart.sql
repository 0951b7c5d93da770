{#
  A CTE that is planned by itself. What Postgres pulls out of one is computed again for each comparison of a join, so
  that it expects them to be dear, and brings the records to the classes instead of the classes to the records.
#}
{% macro _apart(name) -%}{{ return(adapter.dispatch("_apart", "dbt_anonymize")(name)) }}{%- endmacro %}

{% macro default___apart(name) -%}{{ return(name) }}{%- endmacro %}
