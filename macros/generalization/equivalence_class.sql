{% macro equivalence_class(quasi_identifiers, relation_alias=none) -%}
    {%- set parts = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set label = dbt_anonymize._quote(quasi_identifier.name, relation_alias) -%}
        {%- set tag = "n" if quasi_identifier.kind == "interval" else "t" -%}
        {#- The type tag and the length make the join injective: no two different tuples share a text. -#}
        {%- do parts.append(dbt_anonymize._literal(("|" if not loop.first else "") ~ tag)) -%}
        {%- do parts.append(dbt_anonymize._as_text("length(" ~ label ~ ")")) -%}
        {%- do parts.append(dbt_anonymize._literal(":")) -%}
        {%- do parts.append(label) -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._concatenated(parts)) }}
{%- endmacro %}
