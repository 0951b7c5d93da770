{# What re-linking needs of a dialect. Each macro returns SQL, or nothing where there is nothing to do. #}

{# Two attempts at once must not continue the same link of the audit. DuckDB lets one process in, and its key is unique. #}
{% macro _lock_for_append(relation) -%}
    {{ return(adapter.dispatch("_lock_for_append", "dbt_anonymize")(relation)) }}
{%- endmacro %}

{% macro default___lock_for_append(relation) -%}{{ return("") }}{%- endmacro %}

{% macro postgres___lock_for_append(relation) -%}{{ return("lock table " ~ relation ~ " in exclusive mode") }}{%- endmacro %}


{# Who the warehouse says that asks. DuckDB has no users. #}
{% macro _database_user() -%}
    {{ return(adapter.dispatch("_database_user", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___database_user() -%}{{ return("select current_user") }}{%- endmacro %}

{% macro duckdb___database_user() -%}{{ return("") }}{%- endmacro %}


{# DuckDB writes what does not fit into memory to files beside the warehouse, where identifiers must never be. #}
{% macro _keep_in_memory() -%}
    {{ return(adapter.dispatch("_keep_in_memory", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___keep_in_memory() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___keep_in_memory() -%}{{ return("set temp_directory = ''") }}{%- endmacro %}
