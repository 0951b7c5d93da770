{% test categorical_hierarchy(model, levels, nested=true) %}
{{ dbt_anonymize._explain(
    "rules of a hierarchy that are broken. Correct its seed; `dbt-anonymize hierarchy check` names the lines"
) }}
{#- An empty build has no rows to check, and no hierarchy may be empty otherwise. -#}
{%- if flags.EMPTY -%}
select 1 as violations where false
{%- else -%}
{%- do dbt_anonymize._check_hierarchy_columns(model, ["value"], levels) -%}
{{ dbt_anonymize.categorical_hierarchy_violations(model, levels, nested) }}
{%- endif -%}
{% endtest %}
