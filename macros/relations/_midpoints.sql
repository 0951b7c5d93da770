{#
  SQL of further columns of a select: the middle of each interval, and NULL for `*`, whose bounds are those of the
  hierarchy. Middles of dates are dates, those of whole numbers may be halves. Nothing without intervals.
    relation   has the label and the bounds of each
    intervals  names of columns
#}
{% macro _midpoints(relation, intervals) -%}
    {%- set types = {} -%}
    {%- if intervals and execute -%}
        {%- for column in adapter.get_columns_in_relation(relation) -%}
            {%- do types.update({column.name: column.dtype | lower}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- for name in intervals -%}
        {%- set lower, upper = dbt_anonymize._quote(name ~ "_lower"), dbt_anonymize._quote(name ~ "_upper") -%}
        {%- do columns.append(
            ",\n        case when " ~ dbt_anonymize._quote(name) ~ " <> '*' then "
            ~ dbt_anonymize._midpoint(lower, upper, types.get(name ~ "_lower", "")) ~ " end as "
            ~ dbt_anonymize._quote(name ~ "_midpoint")
        ) -%}
    {%- endfor -%}
    {{ return(columns | join) }}
{%- endmacro %}


{# The middle of two bounds of a type. #}
{% macro _midpoint(lower, upper, type) -%}
    {%- if type == "date" -%}
        {{ return(adapter.dispatch("_middle_day", "dbt_anonymize")(lower, upper)) }}
    {%- elif type.startswith("timestamp") -%}
        {{ return(lower ~ " + (" ~ upper ~ " - " ~ lower ~ ") / 2") }}
    {%- endif -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {{ return("(cast(" ~ lower ~ " as " ~ double ~ ") + cast(" ~ upper ~ " as " ~ double ~ ")) / 2") }}
{%- endmacro %}

{% macro default___middle_day(lower, upper) -%}
    {{ return(lower ~ " + cast(floor((" ~ upper ~ " - " ~ lower ~ ") / 2) as integer)") }}
{%- endmacro %}
