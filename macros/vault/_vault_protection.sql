{#
  The first thing of every command that writes: look at how seeds are loaded, and close the vault, before a seed or a
  model brings identifiers into it. dbt hands Python to the adapter only from a macro whose name says materialization,
  and only from the outermost one.
#}
{% macro _before_materializations() -%}
    {%- if execute -%}{%- do dbt_anonymize._check_seed_loading() -%}{%- endif -%}
    {%- set protection = dbt_anonymize._vault_protection() if execute and dbt_anonymize._has_vault() else "" -%}
    {%- if protection -%}
        {% call statement("protect_vault", language="python") -%}
            {{ protection }}
        {%- endcall %}
    {%- endif -%}
    {{- dbt_anonymize._closed_vault_schemas() if execute -}}
{%- endmacro %}


{#
  Whether the project keeps anything in the vault, if only a seed: people are loaded before anybody has written a spec
  about them. A file of that name that only others fill is theirs.
#}
{% macro _has_vault() -%}{{ return(adapter.dispatch("_has_vault", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___has_vault() -%}{{ return(false) }}{%- endmacro %}

{% macro duckdb___has_vault() -%}
    {#- As DuckDB compares names, and as it names a file that is attached without an alias. #}
    {%- set vault = var("dbt_anonymize_vault_database", "vault") | lower -%}
    {%- if vault not in graph.nodes.values() | map(attribute="database") | select | map("lower") | list -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set attached = run_query("select lower(database_name) from duckdb_databases()").columns[0].values() -%}
    {{ return(vault in attached and vault != target.database | lower) }}
{%- endmacro %}


{# Python that closes the vault to everybody but its owner, or nothing where grants do it. #}
{% macro _vault_protection() -%}{{ return(adapter.dispatch("_vault_protection", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___vault_protection() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___vault_protection() -%}
import json

from dbt_anonymize.vault.files import keep_files_private, protect_vault


class dbtObj:
    def __init__(self, load):
        pass


def model(dbt, session):
    protect_vault(
        session,
        vault={{ dbt_anonymize._python_literal(var("dbt_anonymize_vault_database", "vault")) }},
        warehouse={{ dbt_anonymize._python_literal(target.database) }},
        project={{ dbt_anonymize._python_literal(dbt_anonymize._project_folder()) }},
        release={{ dbt_anonymize._python_literal(dbt_anonymize._release_folder()) }},
    )
    keep_files_private()


def materialize(result, session):
    pass
{% endmacro %}


{# Nobody but custodians may read the vault. DuckDB has no grants, and warns of any. #}
{% macro _custodian_grants() -%}{{ return(adapter.dispatch("_custodian_grants", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___custodian_grants() -%}
    {{ return({"select": var("dbt_anonymize_custodians", [])}) }}
{%- endmacro %}

{% macro duckdb___custodian_grants() -%}{{ return({}) }}{%- endmacro %}


{# Identifiers must not end in the file of the warehouse, whatever a project does to names of databases. #}
{% macro _check_vault_place(anonymization) -%}
    {{ return(adapter.dispatch("_check_vault_place", "dbt_anonymize")(anonymization)) }}
{%- endmacro %}

{% macro default___check_vault_place(anonymization) -%}{%- endmacro %}

{% macro duckdb___check_vault_place(anonymization) -%}
    {%- if this.database == target.database -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "the vault must be a database file of its own; got the database of the warehouse, " ~ target.database
            ~ ". Attach another file in the profile as " ~ dbt_anonymize._vault_database()
            ~ ", and let no generate_database_name of your project take it away."
        ]) -%}
    {%- endif -%}
{%- endmacro %}

{# The vault's schema is closed to all but custodians, so nobody else may need what is in it. #}
{% macro postgres___check_vault_place(anonymization) -%}
    {%- if this.schema in dbt_anonymize._schemas_of_others() -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "the vault must be a schema of its own; got " ~ this.schema ~ ", which is also that of the target or of a"
            ~ " release. Choose another with the variable dbt_anonymize_vault_schema, and let no generate_schema_name"
            ~ " of your project take it away."
        ]) -%}
    {%- endif -%}
{%- endmacro %}


{# A source with identifiers in the file of the warehouse is open to whoever opens that file. A view there holds no
   rows. #}
{% macro _warn_of_open_source(anonymization, source) -%}
    {{ return(adapter.dispatch("_warn_of_open_source", "dbt_anonymize")(anonymization, source)) }}
{%- endmacro %}

{% macro default___warn_of_open_source(anonymization, source) -%}{%- endmacro %}

{% macro duckdb___warn_of_open_source(anonymization, source) -%}
    {%- set stored = load_relation(source) -%}
    {%- if source.database == target.database and stored is not none and not stored.is_view -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ anonymization ~ ": identifiers stay out of the file that analysts open; the"
            ~ " source " ~ source
            ~ ", which holds identifiers, lies in the warehouse file (" ~ target.database ~ "). Seed it with"
            ~ " `+database: "
            ~ var("dbt_anonymize_vault_database", "vault") ~ "`, or load it into the vault, and start with a new"
            ~ " warehouse file: the old one keeps dropped rows as plain bytes."
        ) -%}
    {%- endif -%}
{%- endmacro %}
