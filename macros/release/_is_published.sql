{#
  Whether what this target builds is a release. Else it is a draft: checked as any, and left out by register, memory and
  composition. The variable `dbt_anonymize_published_targets` names the targets that publish, all by default. One that has
  released stays published, whatever it is called, until `dbt_anonymize_draft_targets` names it: nobody calls a release
  back that others have.
#}
{% macro _is_published(anonymization, register=none) -%}
    {%- set published = dbt_anonymize._listed_targets("dbt_anonymize_published_targets") -%}
    {%- set drafts = dbt_anonymize._listed_targets("dbt_anonymize_draft_targets") or [] -%}
    {%- for name in drafts if published and name in published -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: a target publishes or builds drafts; " ~ name ~ " is in both dbt_anonymize_published_targets"
            ~ " and dbt_anonymize_draft_targets. Take it out of one of them, in dbt_project.yml."
        ) }}
    {%- endfor -%}
    {%- if target.name in drafts -%}{{ return(false) }}{%- endif -%}
    {%- if published is none or target.name in published -%}{{ return(true) }}{%- endif -%}
    {%- set register = load_relation(register or dbt_anonymize._own_register(anonymization)) -%}
    {{ return(register is not none and run_query("select 1 from " ~ register ~ " limit 1").rows | length > 0) }}
{%- endmacro %}


{# Names of targets, as a variable lists them; none where it is not set. #}
{% macro _listed_targets(variable) -%}
    {%- set names = var(variable, none) -%}
    {%- if names is none -%}{{ return(none) }}{%- endif -%}
    {%- if names is string or names is mapping or names is not iterable or names | reject("string") | list -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: " ~ variable ~ " must be a list of names of targets, such as [prod]; got " ~ names
            ~ ". Correct it under vars in dbt_project.yml."
        ) }}
    {%- endif -%}
    {{ return(names | list) }}
{%- endmacro %}


{# The register of this target, also where the results that it is about are those of another one (`--defer`). #}
{% macro _own_register(anonymization) -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == "model" and node.name == anonymization ~ "_results" -%}
        {{ return(dbt_anonymize._register_relation(node, anonymization)) }}
    {%- endfor -%}
{%- endmacro %}


{# What a build says of what it has released; `is_in_place`: no command publishes it first. #}
{% macro _say_what_is_next(anonymization, is_in_place=true) -%}
    {%- set done = "released" if is_in_place else "built and checked, not published" -%}
    {%- if not dbt_anonymize._is_published(anonymization) -%}
        {%- set done = "a draft, since dbt_anonymize_published_targets does not name " ~ target.name ~ ": it is in no"
            ~ " register, and nothing tells what it shows beside other releases; hand it to nobody" -%}
    {%- endif -%}
    {%- do log(
        anonymization ~ ": " ~ done ~ ". Next: `dbt-anonymize " ~ ("results " if is_in_place else "publish ")
        ~ anonymization ~ "`", info=True
    ) -%}
{%- endmacro %}
