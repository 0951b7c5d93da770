{#
  Python that looks whether a spec changed and its models were not generated anew, and leaves a message then; nothing
  where no model of a spec is selected, or where dbt runs no Python: `dbt-anonymize build` compares them there.
#}
{% macro _comparison_with_specs() -%}
    {{ return(adapter.dispatch("_comparison_with_specs", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___comparison_with_specs() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___comparison_with_specs() -%}
    {%- if not dbt_anonymize._has_python() or flags.WHICH == "test" -%}{{ return("") }}{%- endif -%}
    {%- set declared, selected, generated = {}, {}, {} -%}
    {%- for node in graph.nodes.values() if node.resource_type == "model" and node.package_name == project_name -%}
        {%- set declaration = node.config.get("meta", {}).get("dbt_anonymize") or {} -%}
        {%- if declaration.get("spec") -%}
            {%- do declared.update({declaration.anonymization: declaration.spec}) -%}
        {%- endif -%}
        {%- if node.unique_id in selected_resources -%}
            {%- for tag in node.tags -%}{%- do selected.update({tag: true}) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name, spec in declared.items() if name in selected -%}
        {%- do generated.update({name: spec}) -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._python_code(dbt_anonymize._python_step(
        "dbt_anonymize.project.spec_changes", "leave_changes",
        {"project": dbt_anonymize._project_folder(), "generated": generated},
    )) if generated else "") }}
{%- endmacro %}


{# Stop with the message that Python left. #}
{% macro _raise_message() -%}
    {%- set place = "dbt_anonymize_message" -%}
    {%- if run_query("select 1 from duckdb_databases() where database_name = " ~ dbt_anonymize._literal(place)).rows -%}
        {%- set message = run_query("select text from " ~ place ~ ".main.message").rows[0][0] -%}
        {{ exceptions.raise_compiler_error("dbt_anonymize: " ~ message) }}
    {%- endif -%}
{%- endmacro %}
