{# What keeps others out of the vault where an engine has grants: its schema and tables are for custodians alone. #}

{#
  SQL at the start of every command that writes, before a seed brings identifiers: nobody but custodians may enter the
  vault's schemas. Not a schema that holds more than the vault: `_check_vault_place` stops the build there.
#}
{% macro _closed_vault_schemas() -%}
    {{ return(adapter.dispatch("_closed_vault_schemas", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___closed_vault_schemas() -%}{{ return("") }}{%- endmacro %}


{# Whether a node is published: records, or what an extension releases instead. #}
{% macro _is_release(node) -%}
    {%- set declared = node.config.get("meta", {}).get("dbt_anonymize") or {} -%}
    {{ return(declared is mapping and declared.get("folder") is not none) }}
{%- endmacro %}


{# Schemas that analysts read, or that hold working tables. #}
{% macro _schemas_of_others() -%}
    {%- set schemas = [target.schema] -%}
    {%- for node in graph.nodes.values() if dbt_anonymize._is_release(node) -%}
        {%- do schemas.append(node.schema) -%}
    {%- endfor -%}
    {{ return(schemas) }}
{%- endmacro %}


{# A table of the vault is for custodians: in its transaction, before anybody else can see it. #}
{% macro _apply_vault_grants(relation, should_revoke) -%}
    {%- do adapter.dispatch("_apply_vault_grants", "dbt_anonymize")(relation, should_revoke) -%}
{%- endmacro %}

{% macro default___apply_vault_grants(relation, should_revoke) -%}
    {%- do apply_grants(relation, config.get("grants"), should_revoke=should_revoke) -%}
{%- endmacro %}


{#
  `<n>_relinkings` beside the vault, made by whoever builds: custodians may add attempts and read them, and neither
  change nor remove any. Without grants the first re-linking makes it.
#}
{% macro _prepare_relinkings(vault, anonymization) -%}
    {%- do adapter.dispatch("_prepare_relinkings", "dbt_anonymize")(vault, anonymization) -%}
{%- endmacro %}

{% macro default___prepare_relinkings(vault, anonymization) -%}{%- endmacro %}


{# Statements that leave a table of the vault to its owner and, with these rights, to custodians. #}
{% macro _closed_to_others(relation, rights) -%}
    {{ return(adapter.dispatch("_closed_to_others", "dbt_anonymize")(relation, rights)) }}
{%- endmacro %}

{% macro default___closed_to_others(relation, rights) -%}{{ return("") }}{%- endmacro %}
