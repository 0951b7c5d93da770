{# What re-linking needs of a dialect. Each macro returns SQL, or nothing where there is nothing to do. #}

{# The audit of re-linking, where there is none yet: its number, and the fields of an attempt in Python. #}
{% macro _relinkings_table(relation) -%}
    {%- set text, whole = dbt.type_string(), dbt.type_bigint() -%}
create table if not exists {{ relation }} (
    {#- The key keeps two attempts at once from getting the same number. #}
    attempt {{ whole }} primary key,
    attempted_at {{ dbt.type_timestamp() }},
    {%- for name in ["os_user", "database_user", "purpose"] %}
    {{ name }} {{ text }},
    {%- endfor %}
    {%- for name in ["given_rows", "unknown_rows", "shown_groups", "shown_people"] %}
    {{ name }} {{ whole }},
    {%- endfor %}
    outcome {{ text }},
    reason {{ text }},
    effort {{ whole }},
    fingerprint {{ text }},
    policy {{ text }}
)
{%- endmacro %}


{# Two attempts at once must not get the same number. DuckDB lets one process in, and its key is unique. #}
{% macro _lock_for_append(relation) -%}
    {{ return(adapter.dispatch("_lock_for_append", "dbt_anonymize")(relation)) }}
{%- endmacro %}

{% macro default___lock_for_append(relation) -%}{{ return("") }}{%- endmacro %}


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
