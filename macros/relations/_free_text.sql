{# In the transaction of the microdata: columns that would be released as they are and look like free text, as messages.
   One value is longer than 100 characters, or values with a blank are many: more than 500 different ones, or ten and
   more than one for ten records. #}
{% macro _free_text_errors(columns, spec) -%}
    {%- set texts, counts = [], [] -%}
    {%- for column in adapter.get_columns_in_relation(this) if column.name in columns and column.is_string() -%}
        {%- set quoted = dbt_anonymize._quote(column.name) -%}
        {%- do texts.append(column.name) -%}
        {%- do counts.append("count(" ~ quoted ~ ")") -%}
        {%- do counts.append("coalesce(max(length(" ~ quoted ~ ")), 0)") -%}
        {%- do counts.append("count(distinct case when trim(" ~ quoted ~ ") like '% %' then " ~ quoted ~ " end)") -%}
    {%- endfor -%}
    {%- if not texts -%}{{ return([]) }}{%- endif -%}
    {%- set found = run_query("select " ~ counts | join(", ") ~ " from " ~ this).rows[0] -%}
    {%- set errors = [] -%}
    {%- for name in texts -%}
        {%- set place = 3 * loop.index0 -%}
        {%- set known, longest, phrases = found[place], found[place + 1], found[place + 2] -%}
        {%- if longest > 100 or phrases > 500 or (phrases >= 10 and 10 * phrases > known) -%}
            {%- do errors.append(
                "the column " ~ name ~ " would be released as it is and looks like free text, which may name anybody: "
                ~ phrases ~ " different values of several words among " ~ known ~ " records, the longest value has "
                ~ longest ~ " characters. Mask or drop it, group its values in a model before, or, once somebody has"
                ~ " read it, declare `free_text: accepted` in " ~ spec ~ "."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}
