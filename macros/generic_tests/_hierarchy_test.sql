{# The test of a hierarchy of one kind. #}
{% macro _hierarchy_test(hierarchy, kind, levels, nested) -%}
    {{ dbt_anonymize._explain(
        "rules of a hierarchy that are broken. Correct its seed; `dbt-anonymize hierarchy check` names the lines"
    ) }}
    {#- An empty build has no rows to check, and no hierarchy may be empty otherwise. -#}
    {%- if flags.EMPTY -%}
        {{ return("select 1 as violations where false") }}
    {%- endif -%}
    {%- do dbt_anonymize._check_hierarchy_columns(hierarchy, kind, levels) -%}
    {{ return(dbt_anonymize._hierarchy_violations(hierarchy, kind, levels, nested)) }}
{%- endmacro %}


{# Stops where the relation has other columns than the test asks for, such as after the number of levels changed. A
   relation that does not exist yet, or a part of one (`where`), has none to look up. #}
{% macro _check_hierarchy_columns(hierarchy, kind, levels) -%}
    {%- if not execute or hierarchy is string -%}{{ return("") }}{%- endif -%}
    {%- set expected = dbt_anonymize._hierarchy_columns(kind, levels) -%}
    {%- set stored = dbt_anonymize._stored_columns(hierarchy) -%}
    {%- if stored and expected | sort != stored | sort -%}
        {{ exceptions.raise_compiler_error(
            "hierarchy " ~ hierarchy.identifier ~ " must have the columns " ~ expected | join(", ") ~ "; got "
            ~ stored | join(", ") ~ ". Correct the seed and load it with `dbt seed --full-refresh --select "
            ~ hierarchy.identifier ~ "`, or correct `levels` of the test."
        ) }}
    {%- endif -%}
{%- endmacro %}
