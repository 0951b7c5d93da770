{#
  Say that seeds are not loaded by this package's own macro, which dbt uses only where dbt_project.yml asks for it:
  DuckDB prints the whole line of a seed that it cannot load. A macro of the project itself is its own affair.
#}
{% macro _check_seed_loading() -%}
    {{ return(adapter.dispatch("_check_seed_loading", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___check_seed_loading() -%}{%- endmacro %}

{% macro duckdb___check_seed_loading() -%}
    {%- set loader = adapter.dispatch("load_csv_rows", "dbt").macro.package_name -%}
    {%- set nodes = graph.nodes.values() | list -%}
    {%- set anonymizing = nodes | selectattr("config.meta.dbt_anonymize", "defined") | list -%}
    {%- set seeds = nodes | selectattr("resource_type", "equalto", "seed") | map(attribute="unique_id") -%}
    {%- if loader in ["dbt", "dbt_duckdb"] and anonymizing and seeds | select("in", selected_resources) | list -%}
        {%- do exceptions.warn(
            "dbt_anonymize: seeds must be loaded by the macro of this package, or a line that does not fit is printed"
            ~ " by DuckDB as a whole, with all that it says of a person; they are loaded by that of " ~ loader
            ~ ". Add to dbt_project.yml:\n"
            ~ "dispatch:\n  - macro_namespace: dbt\n    search_order: [" ~ project_name ~ ", dbt_anonymize, dbt]"
        ) -%}
    {%- endif -%}
{%- endmacro %}
