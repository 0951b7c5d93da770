{# True when this node is about to be written, so that data may and must be looked at. A command that is not known
   to only show SQL counts as building: a check that is skipped by mistake would publish. #}
{% macro _is_building() -%}
    {%- set only_shows_sql = ["compile", "generate", "list", "parse", "show", "test"] -%}
    {{ return(
        execute
        and flags.WHICH not in only_shows_sql
        and not dbt_anonymize._is_trial()
        and model.resource_type != "unit_test"
    ) }}
{%- endmacro %}
