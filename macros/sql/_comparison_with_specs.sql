{#
  Python that stops where a spec changed and its models were not generated anew; nothing where no model of a spec is
  selected, or where dbt runs no Python: `dbt-anonymize build` compares them there.
#}
{% macro _comparison_with_specs() -%}
    {{ return(adapter.dispatch("_comparison_with_specs", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___comparison_with_specs() -%}{{ return("") }}{%- endmacro %}

{% macro duckdb___comparison_with_specs() -%}
    {%- if not dbt_anonymize._has_python() or flags.WHICH == "test" -%}{{ return("") }}{%- endif -%}
    {%- set declared, selected, digests = {}, {}, {} -%}
    {%- for node in graph.nodes.values() if node.resource_type == "model" and node.package_name == project_name -%}
        {%- set found = node.config.get("meta", {}).get("dbt_anonymize") or {} -%}
        {%- if found.get("spec") -%}
            {%- do declared.update({found.anonymization: found.spec.digest}) -%}
        {%- endif -%}
        {%- if node.unique_id in selected_resources -%}
            {%- for tag in node.tags -%}{%- do selected.update({tag: true}) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name, digest in declared.items() if name in selected -%}
        {%- do digests.update({name: digest}) -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._python_code(dbt_anonymize._python_step(
        "dbt_anonymize.project.spec_changes", "require_generated",
        {"project": dbt_anonymize._project_folder(), "digests": digests},
    )) if digests else "") }}
{%- endmacro %}
