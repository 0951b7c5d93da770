{# Whether a guarantee is about what the labels of a class lose: then classes have the column `class_loss`. #}
{% macro _need_loss(guarantees) -%}
    {%- for guarantee in guarantees if dbt_anonymize._privacy_model(guarantee).needs_loss -%}
        {{ return(true) }}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}


{# The columns of measured classes that guarantees need beside their measures: what labels lose. #}
{% macro _loss_of_classes(guarantees, quasi_identifiers, aggregate="max") -%}
    {%- if not dbt_anonymize._need_loss(guarantees) -%}{{ return([]) }}{%- endif -%}
    {{ return([{"name": "class_loss", "sql": dbt_anonymize._class_loss(quasi_identifiers, aggregate)}]) }}
{%- endmacro %}


{#
  What guarantees tell of an effort beside the risks: `aggregates` over its released classes, and `columns` over these,
  which stand under `measured`, and over the `counts` of the effort.
#}
{% macro _told_by_guarantees(guarantees) -%}
    {%- if not dbt_anonymize._need_loss(guarantees) -%}{{ return({"aggregates": {}, "columns": {}}) }}{%- endif -%}
    {{ return(dbt_anonymize._payouts_of_effort(guarantees)) }}
{%- endmacro %}
