{# In the transaction of the microdata: columns that would be released as they are and look like free text, as messages.
   One value is longer than 100 characters, or values with a blank are many: more than 500 different ones, or ten and
   more than one for ten records. #}
{% macro _free_text_errors(columns, spec) -%}
    {%- set texts, queries = [], [] -%}
    {%- for column in adapter.get_columns_in_relation(this) if column.name in columns and column.is_string() -%}
        {%- do queries.append(
            "select " ~ texts | length ~ " as place, counted.* from ("
            ~ dbt_anonymize._count_phrases(this, dbt_anonymize._quote(column.name)) ~ ") as counted"
        ) -%}
        {%- do texts.append(column.name) -%}
    {%- endfor -%}
    {%- if not texts -%}{{ return([]) }}{%- endif -%}
    {%- set errors = [] -%}
    {%- for row in run_query(queries | join(" union all ") ~ " order by place").rows -%}
        {%- set name = texts[row[0] | int] -%}
        {%- set known, longest, phrases = row[1] | int, row[2] | int, row[3] | int -%}
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


{# Query of one row about a text column: records that have it, the longest value, different values of several words. #}
{% macro _count_phrases(relation, column) -%}
    {{ return(adapter.dispatch("_count_phrases", "dbt_anonymize")(relation, column)) }}
{%- endmacro %}

{% macro default___count_phrases(relation, column) -%}
    {{ return(
        "select count(" ~ column ~ ") as known, coalesce(max(length(" ~ column ~ ")), 0) as longest,"
        ~ " count(distinct case when trim(" ~ column ~ ") like '% %' then " ~ column ~ " end) as phrases from "
        ~ relation
    ) }}
{%- endmacro %}
