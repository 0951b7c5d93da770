{#
  Records one level up beside their own labels: these are the columns of their raw values under names of their own, by
  which the quasi-identifiers that `_raised` returns are generalized in the same scan.
#}
{% macro _raised_columns(quasi_identifiers, relation_alias=none) -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- for end in ["", "_leaf"] -%},
        {%- set column = quasi_identifier.name ~ end %}
        {{ dbt_anonymize._quote(column, relation_alias) }} as {{ dbt_anonymize._raised_name(column) }}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}


{# Quasi-identifiers one level up, each at most at its root. #}
{% macro _raised(quasi_identifiers) -%}
    {%- set raised = [] -%}
    {%- for one in quasi_identifiers -%}
        {%- do raised.append(dict(
            one, name=dbt_anonymize._raised_name(one.name, quoted=false), level=[one.level + 1, one.levels] | min
        )) -%}
    {%- endfor -%}
    {{ return(raised) }}
{%- endmacro %}


{# No declared column has such a name. #}
{% macro _raised_name(column, quoted=true) -%}
    {%- set name = "raised " ~ column -%}
    {{ return(dbt_anonymize._quote(name) if quoted else name) }}
{%- endmacro %}


{#
  What a record shows, as one text: equal texts stand for equal labels and bounds, also of different levels. NULL where
  every label is the root, as of hidden records.
#}
{% macro _shown_value(quasi_identifiers) -%}
    {%- set parts, visible = [dbt_anonymize.equivalence_class(quasi_identifiers)], [] -%}
    {%- for one in quasi_identifiers -%}
        {%- do visible.append(dbt_anonymize._quote(one.name) ~ " <> '*'") -%}
        {%- for end in ["_lower", "_upper"] if one.kind == "interval" -%}
            {%- do parts.extend(["'|'", dbt_anonymize._as_text(dbt_anonymize._quote(one.name ~ end))]) -%}
        {%- endfor -%}
    {%- endfor -%}
case
    when {{ visible | join(" or ") }}
        then {{ dbt_anonymize._concatenated(parts) }}
end
{%- endmacro %}
