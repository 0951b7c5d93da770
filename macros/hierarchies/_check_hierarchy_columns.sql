{# In a test of a hierarchy: stops where the relation has other columns than the test asks for, such as after the number
   of levels changed. A relation that does not exist yet, or a part of one (`where`), has none to look up. #}
{% macro _check_hierarchy_columns(hierarchy, leaf_columns, levels) -%}
    {%- if not execute or hierarchy is string -%}{{ return("") }}{%- endif -%}
    {%- set expected = leaf_columns + [] -%}
    {%- for level in range(1, levels + 1) -%}
        {%- do expected.append("level_" ~ level) -%}
    {%- endfor -%}
    {%- set found = adapter.get_columns_in_relation(hierarchy) | map(attribute="name") | map("lower") | list -%}
    {%- if found and (expected | reject("in", found) | list or found | reject("in", expected) | list) -%}
        {{ exceptions.raise_compiler_error(
            "hierarchy " ~ hierarchy.identifier ~ " must have the columns " ~ expected | join(", ") ~ "; got " ~ found | join(", ")
            ~ ". Correct the seed and load it with `dbt seed --full-refresh --select " ~ hierarchy.identifier
            ~ "`, or correct `levels` of the test."
        ) }}
    {%- endif -%}
{%- endmacro %}
