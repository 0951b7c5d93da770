{# The height of a label as a part of that of its hierarchy, as SQL. `*`, which NULL is shown as at every level, is the
   root. `level` is an expression. #}
{% macro _label_height(quasi_identifier, level) -%}
    {{ return(
        "case when " ~ dbt_anonymize._quote(quasi_identifier.name, "classes") ~ " = '*' then 1 else cast(" ~ level
        ~ " as " ~ dbt_anonymize._type_double() ~ ") / " ~ quasi_identifier.levels ~ " end"
    ) }}
{%- endmacro %}
