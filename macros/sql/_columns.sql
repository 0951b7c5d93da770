{# Columns of one relation whose names need no quotes, as a list. #}
{% macro _columns_of(relation_alias, columns) -%}
    {%- set qualified = [] -%}
    {%- for column in columns -%}{%- do qualified.append(relation_alias ~ "." ~ column) -%}{%- endfor -%}
    {{ return(qualified) }}
{%- endmacro %}


{# The conditions under which such columns are equal in two relations, as a list. #}
{% macro _equal_columns(left_alias, right_alias, columns) -%}
    {%- set conditions = [] -%}
    {%- for column in columns -%}
        {%- do conditions.append(left_alias ~ "." ~ column ~ " = " ~ right_alias ~ "." ~ column) -%}
    {%- endfor -%}
    {{ return(conditions) }}
{%- endmacro %}


{# The same of columns whose names need quotes. #}
{% macro _equal_quoted(left_alias, right_alias, names) -%}
    {%- set quoted = [] -%}
    {%- for name in names -%}{%- do quoted.append(dbt_anonymize._quote(name)) -%}{%- endfor -%}
    {{ return(dbt_anonymize._equal_columns(left_alias, right_alias, quoted)) }}
{%- endmacro %}
