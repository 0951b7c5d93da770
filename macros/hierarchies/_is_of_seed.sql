{# Whether a relation is a seed of the project: written beforehand, and not computed from data. #}
{% macro _is_of_seed(relation) -%}
    {%- for node in graph.nodes.values() if node.resource_type == "seed" -%}
        {%- if node.alias == relation.identifier and node.schema == relation.schema -%}{{ return(true) }}{%- endif -%}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}
