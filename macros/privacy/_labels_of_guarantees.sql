{# The columns of measured classes that guarantees need beside their measures: what labels lose. #}
{% macro _loss_of_classes(guarantees, quasi_identifiers, aggregate="max") -%}
    {%- if not dbt_anonymize._is_any(guarantees, "needs_loss") -%}{{ return([]) }}{%- endif -%}
    {{ return([{"name": "class_loss", "sql": dbt_anonymize._class_loss(quasi_identifiers, aggregate)}]) }}
{%- endmacro %}


{#
  Figures that guarantees add to the risks of an effort: `aggregates` over its released classes, and `columns` over
  these, which stand under `measured`, and over the `counts` of the effort.
#}
{% macro _figures_of_guarantees(guarantees) -%}
    {%- if not dbt_anonymize._is_any(guarantees, "needs_loss") -%}
        {{ return({"aggregates": {}, "columns": {}}) }}
    {%- endif -%}
    {{ return(dbt_anonymize._payouts_of_effort(guarantees)) }}
{%- endmacro %}
