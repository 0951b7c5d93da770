{# What an engine lacks for what is selected, said before anything is built, not minutes later. #}
{% macro _check_engine() -%}{%- do adapter.dispatch("_check_engine", "dbt_anonymize")() -%}{%- endmacro %}

{% macro duckdb___check_engine() -%}{%- endmacro %}

{% macro default___check_engine() -%}
    {%- set missing = dbt_anonymize._missing_engine() -%}
    {%- if missing -%}{{ exceptions.raise_compiler_error("dbt_anonymize: " ~ missing) }}{%- endif -%}
    {%- do dbt_anonymize._refuse_python_models() -%}
{%- endmacro %}


{# Where the adapter has no macros here: a message that names its extension; none where no extension is known. #}
{% macro _missing_engine() -%}
    {%- set extension = dbt_anonymize._extensions_of_adapters().get(target.type) -%}
    {%- if extension -%}
        {{ return(
            target.type ~ ": needs the extension " ~ extension ~ ", which is not here. Add it, or choose another"
            ~ " target."
        ) }}
    {%- endif -%}
    {{ return("") }}
{%- endmacro %}


{# For an engine on which dbt runs no Python. #}
{% macro _refuse_python_models() -%}
    {%- set python_models = [] -%}
    {%- for node in graph.nodes.values() if node.unique_id in selected_resources -%}
        {%- if node.get("language") == "python" and "from dbt_anonymize" in node.raw_code -%}
            {%- do python_models.append(node.name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if python_models -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: " ~ target.type ~ " runs no Python models, and " ~ python_models | sort | join(", ")
            ~ (" is one" if python_models | length == 1 else " are such")
            ~ ". Write `vars: {dbt_anonymize_python: false}` in dbt_project.yml (`dbt-anonymize new` does), run"
            ~ " `dbt-anonymize generate` and `dbt-anonymize build`,"
            ~ " which calls dbt and trains in between."
        ) }}
    {%- endif -%}
{%- endmacro %}
