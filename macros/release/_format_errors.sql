{# Types whose values a file of a format does not give back. Every other one that a column may have is given back; the
   tests write and read each. #}
{% macro _unfit_types() -%}
    {{ return({"parquet": ["hugeint", "uhugeint"], "csv": [], "duckdb": []}) }}
{%- endmacro %}


{# Why released columns cannot be written in every format, as messages. `columns`: those of the source that are released
   as they are; bounds of hierarchies are released beside them. #}
{% macro _format_errors(formats, columns, quasi_identifiers) -%}
    {%- set released = [] -%}
    {%- for column in columns -%}
        {%- do released.append({"name": column.name, "type": column.dtype | lower}) -%}
    {%- endfor -%}
    {%- for quasi_identifier in quasi_identifiers if quasi_identifier.kind == "interval" -%}
        {%- for bound in dbt_anonymize._bound_columns(quasi_identifier.hierarchy) -%}
            {%- do released.append({
                "name": bound.name ~ " of hierarchy " ~ quasi_identifier.hierarchy.identifier,
                "type": bound.dtype | lower,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set errors = [] -%}
    {%- for format in formats -%}
        {%- for one in released if one.type in dbt_anonymize._unfit_types().get(format, []) -%}
            {%- do errors.append(
                "the release must be the same in all of its formats; " ~ format ~ " has " ~ one.name ~ ", which is "
                ~ one.type ~ ", as a double. Cast it in a model before (to bigint, or decimal(38, 0)), or remove "
                ~ format
                ~ " from release.formats."
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}
