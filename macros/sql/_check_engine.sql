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
