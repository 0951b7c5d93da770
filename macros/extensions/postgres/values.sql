{# How values are written, compared and drawn. #}

{% macro postgres___as_bytes(expression) -%}{{ return("convert_to(" ~ expression ~ ", 'UTF8')") }}{%- endmacro %}


{% macro postgres___concatenated(texts) -%}{{ return("concat(" ~ texts | join(", ") ~ ")") }}{%- endmacro %}


{# Postgres shows a text that is no number. Nothing of the column is in it, but without a column it would be read while
   the statement is planned, before there is any row. #}
{% macro postgres___raise_in_sql(message, like) -%}
    {%- set nothing = "left(coalesce(" ~ dbt_anonymize._as_text(like) ~ ", ''), 0)" -%}
    {%- set text = dbt_anonymize._literal(message) ~ " || " ~ nothing -%}
    {{ return("case when cast(" ~ text ~ " as integer) is null then " ~ like ~ " end") }}
{%- endmacro %}


{# Its round() of a double takes no decimals. #}
{% macro postgres___mask_decimals(number, decimals) -%}
    {{ return("cast(round(cast(" ~ number ~ " as numeric), " ~ decimals ~ ") as double precision)") }}
{%- endmacro %}


{% macro postgres___is_sampled_value(value) -%}
    {{ return("mod(hashtext(" ~ dbt_anonymize._as_text(value) ~ "), 16) = 0") }}
{%- endmacro %}


{% macro postgres___sum_of_hashes(relation_alias) -%}
    {{ return("coalesce(sum(hashtextextended(cast(" ~ relation_alias ~ ".* as text), 0)), 0)") }}
{%- endmacro %}


{% macro postgres___number_of_digest(digest, first) -%}
    {{ return("cast(cast('x' || substr(" ~ digest ~ ", " ~ first ~ ", 12) as bit(48)) as bigint)") }}
{%- endmacro %}


{% macro postgres___random_token() -%}{{ return("replace(cast(gen_random_uuid() as text), '-', '')") }}{%- endmacro %}
