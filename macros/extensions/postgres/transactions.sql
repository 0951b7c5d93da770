{# A release is one transaction, before which dbt has committed what it commits by itself. #}

{% macro postgres___has_transactions() -%}{{ return(true) }}{%- endmacro %}


{% macro postgres___begin_transaction() -%}begin{%- endmacro %}


{# One transaction has all steps, and ends once. #}
{% macro postgres___commit_step() -%}{%- endmacro %}


{# dbt commits a schema that it makes, so they are made before. #}
{% macro postgres___create_schema_of(relation) -%}{%- endmacro %}


{% macro _create_vault_schemas(declaration) -%}
    {%- set name = declaration.anonymization -%}
    {%- if declaration.mapping != "none" -%}
        {%- do adapter.create_schema(dbt_anonymize._releases_relation(name)) -%}
    {%- endif -%}
    {%- if declaration.budget -%}{%- do adapter.create_schema(dbt_anonymize._budget_relation(name)) -%}{%- endif -%}
{%- endmacro %}
