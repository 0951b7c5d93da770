{#
  The first thing of every command that writes: look at how seeds are loaded, and that models are of their specs; close
  the vault, and see that it is of this target, before a seed or a model brings identifiers into it. dbt hands Python to
  the adapter only from a macro whose name says materialization, and only from the outermost one.
#}
{% macro _before_materializations() -%}
    {%- if execute -%}
        {%- do dbt_anonymize._check_seed_loading() -%}
        {%- do dbt_anonymize._check_engine() -%}
    {%- endif -%}
    {%- set comparison = dbt_anonymize._comparison_with_specs() if execute else "" -%}
    {%- if comparison -%}
        {% call statement("compare_with_specs", language="python") -%}
            {{ comparison }}
        {%- endcall %}
        {%- do dbt_anonymize._raise_message() -%}
    {%- endif -%}
    {%- set has_vault = execute and dbt_anonymize._has_vault() -%}
    {%- if has_vault and not dbt_anonymize._has_python() -%}{%- do dbt_anonymize._spill_beside_vault() -%}{%- endif -%}
    {%- set protection = dbt_anonymize._vault_protection()
        if has_vault and (dbt_anonymize._has_python() or dbt_anonymize._fills_vault()) else "" -%}
    {%- if protection -%}
        {% call statement("protect_vault", language="python") -%}
            {{ protection }}
        {%- endcall %}
    {%- endif -%}
    {%- if execute -%}{%- do dbt_anonymize._claim_vaults() -%}{%- endif -%}
    {{- dbt_anonymize._closed_vault_schemas() if execute -}}
{%- endmacro %}


{# Whether what is selected writes into the vault, which a release does too: it remembers its records there. #}
{% macro _fills_vault() -%}
    {%- set vault = var("dbt_anonymize_vault_database", "vault") | lower -%}
    {%- for node in graph.nodes.values() if node.unique_id in selected_resources -%}
        {%- if node.resource_type in ["model", "seed", "snapshot"] and (
            (node.database or "") | lower == vault or dbt_anonymize._is_release(node)
        ) -%}
            {{ return(true) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(false) }}
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


{# Python that closes the vault to everybody but its owner; nothing where grants do it, or a command before dbt. #}
{% macro _vault_protection() -%}{{ return(adapter.dispatch("_vault_protection", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___vault_protection() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___vault_protection() -%}
    {%- if not dbt_anonymize._has_python() -%}
        {%- do dbt_anonymize._require_closed_vault() -%}
        {{ return("") }}
    {%- endif -%}
    {{ return(dbt_anonymize._python_code(dbt_anonymize._python_step("dbt_anonymize.vault.files", "close_vault", {
        "vault": var("dbt_anonymize_vault_database", "vault"),
        "warehouse": target.database,
        "project": dbt_anonymize._project_folder(),
        "release": dbt_anonymize._release_folder(),
    }))) }}
{%- endmacro %}


{#
  SQL sees no mode of a file. So whoever closes the vault puts a key beside it, and where there is none dbt stops before
  anything is written. The key is also what draws are made of; see `_keyed_draws`.
#}
{% macro _require_closed_vault() -%}
    {%- set file = dbt_anonymize._file_of_vault() -%}
    {#- `glob` and `read_blob` take a pattern: the key of another vault could fit. -#}
    {%- if file and modules.re.search("[*?\\[]", file) -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: the path of the vault must not have *, ? or [, which stand for other files in SQL; got "
            ~ file ~ ". Rename the folder, and change `attach` in the profile."
        ) }}
    {%- endif -%}
    {%- set key = dbt_anonymize._literal((file or "") ~ ".key") -%}
    {%- set is_closed = file and run_query("select 1 from glob(" ~ key ~ ")").rows
        and run_query("select size from read_blob(" ~ key ~ ")").rows[0][0] >= 32 -%}
    {%- if file and not is_closed -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: the vault must be closed to others before anything is written into it, which SQL cannot do;"
            ~ " nobody has: there is no " ~ file ~ ".key of 32 bytes. Run `dbt-anonymize build`, which closes it and"
            ~ " calls dbt; or close it yourself, as docs/engines.md says."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# Path of the vault's file; none where it is in memory or elsewhere. A drive of Windows has one letter. #}
{% macro _file_of_vault() -%}
    {%- set rows = run_query(
        "select path from duckdb_databases() where lower(database_name) = "
        ~ dbt_anonymize._literal(var("dbt_anonymize_vault_database", "vault") | lower)
    ).rows -%}
    {%- set path = rows[0][0] if rows else none -%}
    {{ return(none if not path or modules.re.match("\\w\\w+:|:memory:", path) else path) }}
{%- endmacro %}


{# What does not fit into memory is spilled beside the vault, unless the profile says where: not beside the
   warehouse, which is DuckDB's choice. With Python `close_vault` does it. #}
{% macro _spill_beside_vault() -%}
    {%- set file = dbt_anonymize._file_of_vault() -%}
    {%- set spilled = run_query(
        "select current_setting('temp_directory'), coalesce(path, '') || '.tmp' from duckdb_databases() where"
        ~ " lower(database_name) = " ~ dbt_anonymize._literal(target.database | lower)
    ).rows -%}
    {%- if file and spilled and spilled[0][0] == spilled[0][1] -%}
        {%- do run_query("set global temp_directory = " ~ dbt_anonymize._literal(file ~ ".tmp")) -%}
    {%- endif -%}
{%- endmacro %}


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

{% macro default___check_vault_place(anonymization) -%}
    {%- set error = dbt_anonymize._vault_place_error(this) -%}
    {%- if error -%}{%- do dbt_anonymize._raise_errors(anonymization, [error]) -%}{%- endif -%}
{%- endmacro %}


{# Why nothing of a vault may lie in the database and schema of a relation or mapping; "" where it may. #}
{% macro _vault_place_error(place) -%}
    {{ return(adapter.dispatch("_vault_place_error", "dbt_anonymize")(place)) }}
{%- endmacro %}

{% macro default___vault_place_error(place) -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___vault_place_error(place) -%}
    {{ return(
        "the vault must be a database file of its own; got the database of the warehouse, " ~ target.database
        ~ ". Attach another file in the profile as " ~ dbt_anonymize._vault_database()
        ~ ", and let no generate_database_name of your project take it away."
        if place.database == target.database else ""
    ) }}
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
