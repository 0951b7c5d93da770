{# The vault is a database in a folder of its own, since there are no grants. #}

{# Spark has no databases above schemas. #}
{% macro spark___vault_database() -%}{{ return(none) }}{%- endmacro %}


{# Without grants nobody can be let in. #}
{% macro spark___custodian_grants() -%}
    {%- if var("dbt_anonymize_custodians", []) -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize_custodians must be empty: Spark has no grants. Let the file system say who reads the folder"
            ~ " of dbt_anonymize_vault_location."
        ) }}
    {%- endif -%}
    {{ return({}) }}
{%- endmacro %}


{# The vault is a database in a folder of its own, which the file system can close. #}
{% macro spark__create_schema(relation) -%}
    {%- set folder = var("dbt_anonymize_vault_location", "") -%}
    {%- set is_vault = relation.schema in dbt_anonymize._vault_schemas() -%}
    {%- if is_vault -%}{%- do dbt_anonymize._check_vault_location(relation.schema) -%}{%- endif -%}
    {%- call statement("create_schema") -%}
        create schema if not exists {{ relation }}
        {%- if is_vault %} location {{ dbt_anonymize._literal(folder ~ "/" ~ relation.schema) }}{% endif %}
    {%- endcall -%}
{%- endmacro %}


{% macro _vault_schemas() -%}
    {%- set of_vault = ["dbt_anonymize_vault", "dbt_anonymize_tokens"] -%}
    {%- set nodes = graph.nodes.values() | selectattr("config.materialized", "in", of_vault) -%}
    {{ return(nodes | map(attribute="schema") | unique | list) }}
{%- endmacro %}


{% macro _check_vault_location(schema) -%}
    {%- set folder = dbt_anonymize._path_of(var("dbt_anonymize_vault_location", "")) -%}
    {%- set warehouse = dbt_anonymize._path_of(run_query("set spark.sql.warehouse.dir").rows[0][1]) -%}
    {%- set errors = [] -%}
    {%- if not folder or (folder ~ "/").startswith(warehouse ~ "/") -%}
        {%- do errors.append(
            "the vault must be a folder of its own, outside of that of the warehouse, since Spark has no grants; got "
            ~ (var("dbt_anonymize_vault_location", "") or "none")
            ~ ". Set the variable dbt_anonymize_vault_location to a folder that only custodians can read."
        ) -%}
    {%- elif schema in dbt_anonymize._schemas_of_others() -%}
        {%- do errors.append(
            "the vault must be a schema of its own; got " ~ schema ~ ", which is also that of the target or of a"
            ~ " release. Choose another with the variable dbt_anonymize_vault_schema."
        ) -%}
    {%- endif -%}
    {%- if errors -%}{{ exceptions.raise_compiler_error("dbt_anonymize: " ~ errors[0]) }}{%- endif -%}
{%- endmacro %}


{# A path without scheme and without the slash at its end. #}
{% macro _path_of(location) -%}
    {{ return(modules.re.sub("/+$", "", modules.re.sub("^[a-z0-9]+:/*", "/", location))) }}
{%- endmacro %}


{# Before a seed brings identifiers: the database may have been made elsewhere, or by a macro of the project. #}
{% macro spark___closed_vault_schemas() -%}
    {%- for schema in dbt_anonymize._vault_schemas() -%}
        {%- do dbt_anonymize._check_vault_location(schema) -%}
        {%- set known = run_query("show schemas like " ~ dbt_anonymize._literal(schema)).rows -%}
        {%- for row in (run_query("describe schema " ~ schema).rows if known else []) if row[0] == "Location" -%}
            {%- set folder = var("dbt_anonymize_vault_location") ~ "/" ~ schema -%}
            {%- if dbt_anonymize._path_of(row[1]) != dbt_anonymize._path_of(folder) -%}
                {{ exceptions.raise_compiler_error(
                    "dbt_anonymize: the database of the vault, " ~ schema ~ ", must lie in " ~ folder ~ "; it lies in "
                    ~ row[1] ~ ". Drop it if it is empty; search_order of the dispatch of dbt must name dbt_anonymize."
                ) }}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return("") }}
{%- endmacro %}


{% macro spark___check_vault_place(anonymization) -%}
    {%- do exceptions.warn(
        "WARNING: anonymization " ~ anonymization ~ ": only custodians may read the vault; Spark has no grants, and"
        ~ " cannot see to it. Close " ~ var("dbt_anonymize_vault_location") ~ " to others in the file system."
    ) -%}
{%- endmacro %}


{% macro spark___tables_of_schema(place) -%}
    {%- set known = run_query("show schemas like " ~ dbt_anonymize._literal(place.schema)).rows -%}
    {{ return(run_query("show tables in " ~ place).columns[1].values() if known else []) }}
{%- endmacro %}


{% macro spark___write_vault_owner(relation, rows) -%}
    {%- do dbt_anonymize._run_statements([dbt_anonymize._vault_owner_table(relation)] + rows) -%}
{%- endmacro %}


{# Nothing is remembered of releases. #}
{% macro spark___remembers_releases() -%}{{ return(false) }}{%- endmacro %}
