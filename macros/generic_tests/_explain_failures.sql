{#
  What a failing generic test says beside the number of rows. dbt shows the condition under which a test fails, and
  leaves it to the database, which skips the comment; a condition that the project gives to a test stands in its place.
#}
{% macro _explain(text) -%}
    {#- No name of a column may end the comment, or begin another one within it. #}
    {%- set comment = dbt_anonymize._shown(text) | replace("*/", "* /") | replace("/*", "/ *") -%}
    {{ config(store_failures=false, error_if="!= 0 /* " ~ comment ~ " */", warn_if="!= 0 /* " ~ comment ~ " */") }}
{%- endmacro %}


{# The same for the test of a privacy model; a parameter that is none is left out. #}
{% macro _explain_failures(name, parameters, requires=none) -%}
    {%- set guarantee = {"model": name} -%}
    {%- for parameter, value in parameters.items() if value is not none -%}
        {%- do guarantee.update({parameter: value}) -%}
    {%- endfor -%}
    {{ dbt_anonymize._explain(
        dbt_anonymize._guarantee_text(guarantee, requires)
        ~ "; these are the classes that break it, or columns with NULL. Generalize further, or leave their records out."
    ) }}
{%- endmacro %}


{# `k` and `quasi_identifiers` of the release that a test is about. Where `model` is an argument, as in a test, it is
   not the node. #}
{% macro _declaration_of_release() -%}
    {%- if not execute -%}
        {{ return({"k": 2, "quasi_identifiers": ["known_when_executed"]}) }}
    {%- endif -%}
    {%- for unique_id in model.depends_on.nodes -%}
        {%- set config = graph.nodes.get(unique_id, {}).get("config", {}) -%}
        {%- set declaration = config.get("meta", {}).get("dbt_anonymize", {}) -%}
        {%- for guarantee in declaration.guarantees or [] if guarantee.model == "k_anonymity" -%}
            {%- set names = declaration.quasi_identifiers | map(attribute="name")
                | select("in", declaration.columns) | list -%}
            {{ return({"k": guarantee.k, "quasi_identifiers": names}) }}
        {%- endfor -%}
    {%- endfor -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": `k` and `quasi_identifiers` must be given where the relation is no release of dbt-anonymize;"
        ~ " got none. Write both as arguments."
    ) }}
{%- endmacro %}
