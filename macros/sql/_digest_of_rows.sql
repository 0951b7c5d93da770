{# Query of a text that differs where the rows differ in a value, whatever their order: sums of digests. #}
{% macro _digest_of_rows(relation, columns) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- set value = dbt_anonymize._as_text(dbt_anonymize._quote(column)) -%}
        {%- do parts.append(
            "coalesce(" ~ dbt_anonymize._as_text("length(" ~ value ~ ")") ~ " || ':' || " ~ value ~ ", '-')"
        ) -%}
    {%- endfor -%}
    {%- set sums = [] -%}
    {%- for first in [1, 13] -%}
        {%- do sums.append("coalesce(sum(" ~ dbt_anonymize._number_of_digest("digest", first) ~ "), 0)") -%}
    {%- endfor -%}
    {%- set number = dbt_anonymize._as_text("count(*)") -%}
    {{ return(
        "select " ~ number ~ " || '-' || " ~ dbt_anonymize._as_text(sums[0]) ~ " || '-' || "
        ~ dbt_anonymize._as_text(sums[1]) ~ " from (select md5(" ~ parts | join(" || ") ~ ") as digest from "
        ~ relation ~ ") as digests"
    ) }}
{%- endmacro %}


{# SQL of 48 bits of a digest in hexadecimal digits, as a whole number. #}
{% macro _number_of_digest(digest, first) -%}
    {{ return(adapter.dispatch("_number_of_digest", "dbt_anonymize")(digest, first)) }}
{%- endmacro %}

{% macro default___number_of_digest(digest, first) -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: rows of a release must be digested, so that it is known which were published and verified; on "
        ~ target.type ~ " we cannot. Build on DuckDB or Postgres."
    ) }}
{%- endmacro %}

{% macro duckdb___number_of_digest(digest, first) -%}
    {{ return("cast('0x' || substr(" ~ digest ~ ", " ~ first ~ ", 12) as bigint)") }}
{%- endmacro %}
