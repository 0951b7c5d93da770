{# Where the vault and the release live. DuckDB has no grants, so they are database files of their own; elsewhere they
   are schemas. #}
{% macro _vault_database() -%}{{ return(adapter.dispatch("_vault_database", "dbt_anonymize")()) }}{%- endmacro %}
{% macro default___vault_database() -%}{{ return(target.database) }}{%- endmacro %}
{% macro duckdb___vault_database() -%}
    {%- set vault = var("dbt_anonymize_vault_database", "vault") -%}
    {%- set attached = (target.attach or []) | map(attribute="alias") | list -%}
    {#- The models of our own demonstration are parsed in every project that installs the package. -#}
    {%- set is_demonstration = model.package_name == "dbt_anonymize" and target.profile_name != "dbt_anonymize" -%}
    {%- if vault not in attached and not is_demonstration -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": the vault must be a database file of its own, attached as " ~ vault ~ "; target "
            ~ target.name ~ " of profile " ~ target.profile_name ~ " attaches " ~ (attached | join(", ") or "nothing")
            ~ ". Add `attach: [{path: vault/vault.duckdb, alias: " ~ vault ~ "}]` to it and create the folder."
        ) }}
    {%- endif -%}
    {{ return(vault) }}
{%- endmacro %}

{% macro _vault_schema() -%}{{ return(adapter.dispatch("_vault_schema", "dbt_anonymize")()) }}{%- endmacro %}
{% macro default___vault_schema() -%}{{ return(var("dbt_anonymize_vault_schema", "vault")) }}{%- endmacro %}
{% macro duckdb___vault_schema() -%}{{ return(none) }}{%- endmacro %}

{% macro _release_schema() -%}{{ return(var("dbt_anonymize_release_schema", "release")) }}{%- endmacro %}

{# The dbt project, which is not where dbt was called with `--project-dir`. dbt does not show it among its flags. #}
{% macro _project_folder() -%}{{ return((invocation_args_dict.get("project_dir") or "") | string) }}{%- endmacro %}

{% macro _release_folder() -%}{{ return(var("dbt_anonymize_release_folder", "release")) }}{%- endmacro %}

{# One folder per target: what CI builds from a sample must not replace what production has released. #}
{% macro _release_path(anonymization) -%}
    {{ return(dbt_anonymize._release_folder() ~ "/" ~ target.name ~ "/" ~ anonymization ~ ".duckdb") }}
{%- endmacro %}
