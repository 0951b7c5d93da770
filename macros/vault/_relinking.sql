{# What re-linking needs of a dialect. Each macro returns SQL, or nothing where there is nothing to do. #}

{# The audit of re-linking, where there is none yet: the fields of an attempt in Python, between the two ends of its chain. #}
{% macro _relinkings_table(relation) -%}
    {%- set text, whole = dbt.type_string(), dbt.type_bigint() -%}
create table if not exists {{ relation }} (
    {#- The key keeps two attempts at once from becoming the same link. #}
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
    {%- for name in ["fingerprint", "policy", "previous_hash"] %}
    {{ name }} {{ text }},
    {%- endfor %}
    hash {{ text }}
)
{%- endmacro %}


{# Give an audit of before there were policies its column. `add column if not exists` would wait for whoever reads the audit. #}
{% macro _relinkings_of_before(relation) -%}
do $dbt_anonymize$
begin
    if not exists (
        select 1 from pg_attribute
        where attrelid = cast({{ dbt_anonymize._literal(relation) }} as regclass) and attname = 'policy' and not attisdropped
    ) then
        alter table {{ relation }} add column policy {{ dbt.type_string() }};
    end if;
end
$dbt_anonymize$;
{%- endmacro %}


{# Two attempts at once must not continue the same link of the audit. DuckDB lets one process in, and its key is unique. #}
{% macro _lock_for_append(relation) -%}
    {{ return(adapter.dispatch("_lock_for_append", "dbt_anonymize")(relation)) }}
{%- endmacro %}

{% macro default___lock_for_append(relation) -%}{{ return("") }}{%- endmacro %}

{# Not `lock table`: it needs the right to change what is there, which custodians must not have. #}
{% macro postgres___lock_for_append(relation) -%}
    {{ return("select pg_advisory_xact_lock(cast(cast(" ~ dbt_anonymize._literal(relation) ~ " as regclass) as bigint))") }}
{%- endmacro %}


{# Who the warehouse says that asks. DuckDB has no users. #}
{% macro _database_user() -%}
    {{ return(adapter.dispatch("_database_user", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___database_user() -%}{{ return("select current_user") }}{%- endmacro %}

{# Who logged in, whatever role the profile takes on. #}
{% macro postgres___database_user() -%}{{ return("select session_user") }}{%- endmacro %}

{% macro duckdb___database_user() -%}{{ return("") }}{%- endmacro %}


{# DuckDB writes what does not fit into memory to files beside the warehouse, where identifiers must never be. #}
{% macro _keep_in_memory() -%}
    {{ return(adapter.dispatch("_keep_in_memory", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___keep_in_memory() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___keep_in_memory() -%}{{ return("set temp_directory = ''") }}{%- endmacro %}
