{# What an engine lacks for what is selected, said before anything is built, not minutes later. #}
{% macro _check_engine() -%}{%- do adapter.dispatch("_check_engine", "dbt_anonymize")() -%}{%- endmacro %}

{% macro duckdb___check_engine() -%}{%- endmacro %}

{% macro default___check_engine() -%}
    {%- set found = [] -%}
    {%- for node in graph.nodes.values() if node.unique_id in selected_resources -%}
        {%- if node.get("language") == "python" and "from dbt_anonymize" in node.raw_code -%}
            {%- do found.append(node.name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if found -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: " ~ target.type ~ " runs no Python models, and " ~ found | sort | join(", ")
            ~ (" is one" if found | length == 1 else " are such") ~ ". Write `vars: {dbt_anonymize_python: false}` in"
            ~ " dbt_project.yml (`dbt-anonymize new` does), run `dbt-anonymize generate` and `dbt-anonymize build`,"
            ~ " which calls dbt and trains in between."
        ) }}
    {%- endif -%}
{%- endmacro %}

{# Whoever is granted a release or the vault must be there: a grant comes last. #}
{% macro postgres___check_engine() -%}
    {%- do dbt_anonymize.default___check_engine() -%}
    {%- set kinds = ["dbt_anonymize_release", "dbt_anonymize_vault", "dbt_anonymize_tokens"] -%}
    {%- set roles = [] -%}
    {%- for node in graph.nodes.values()
        if node.unique_id in selected_resources and node.config.get("materialized") in kinds -%}
        {%- for granted in (node.config.get("grants") or {}).values() -%}
            {%- do roles.extend([granted] if granted is string else granted) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set unknown = dbt_anonymize._roles_where(roles, "to_regrole(role) is null") -%}
    {%- if unknown -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: whoever is granted a release or the vault must be a role of the server; "
            ~ unknown | join(", ") ~ (" is none" if unknown | length == 1 else " are none")
            ~ ". Correct +grants or dbt_anonymize_custodians in dbt_project.yml, or create the role."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# The roles that meet a condition. #}
{% macro _roles_where(roles, condition) -%}
    {%- set listed = [] -%}
    {%- for role in roles | unique(case_sensitive=true)
        if role | lower not in ["public", "current_role", "current_user", "session_user"] -%}
        {%- do listed.append("(" ~ dbt_anonymize._literal(role) ~ ")") -%}
    {%- endfor -%}
    {%- if not listed -%}{{ return([]) }}{%- endif -%}
    {{ return(run_query(
        "select role from (values " ~ listed | join(", ") ~ ") as listed (role) where " ~ condition
    ).columns[0].values() | list) }}
{%- endmacro %}
