{# The number of different values that a relation has in a column, by its name; NULL is none. #}
{% macro _count_distinct(relation, name) -%}
    {{ return(adapter.dispatch("_count_distinct", "dbt_anonymize")(relation, name)) }}
{%- endmacro %}

{% macro default___count_distinct(relation, name) -%}
    {{ return(run_query(
        "select count(distinct " ~ dbt_anonymize._quote(name) ~ ") from " ~ relation
    ).rows[0][0] | int) }}
{%- endmacro %}

{#
  Keys are often whole numbers close to each other. A bit for each between the smallest and the largest is then smaller
  than a hash table of them, and much faster to fill. Every thread has its own, a byte per record at most, and cannot
  spill it. DuckDB takes at most a billion bits.
#}
{% macro duckdb___count_distinct(relation, name) -%}
    {%- set column = dbt_anonymize._quote(name) -%}
    {%- set bounds = run_query(
        "select cast(smallest as varchar), cast(largest as varchar) from (select min(" ~ column ~ ") as smallest, max("
        ~ column ~ ") as largest, count(" ~ column ~ ") as known from " ~ relation ~ ") as bounds where"
        ~ " regexp_full_match(typeof(smallest), 'U?(TINY|SMALL|BIG)?INT(EGER)?')"
        ~ " and try_cast(cast(largest as varchar) as hugeint) - try_cast(cast(smallest as varchar) as hugeint)"
        ~ " < least(8 * known, 1000000000)"
    ).rows -%}
    {%- if not bounds -%}
        {{ return(dbt_anonymize.default___count_distinct(relation, name)) }}
    {%- endif -%}
    {{ return(run_query(
        "select bit_count(bitstring_agg(" ~ column ~ ", " ~ bounds[0][0] ~ ", " ~ bounds[0][1] ~ ")) from " ~ relation
    ).rows[0][0] | int) }}
{%- endmacro %}
