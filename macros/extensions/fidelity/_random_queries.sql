{# CTE `queries`: for each query four numbers in [0, 1), the same on every engine: they choose the leaves of its ranges.
   Squares modulo a prime, so that neighbouring queries have nothing in common. #}
{% macro _random_queries(queries, random_state) -%}
{%- set prime = 2147483647 %}

digits as (
    {%- for digit in range(10) %}

    select {{ digit }} as digit
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

seeds as (

    select
        ones.digit + 10 * tens.digit + 100 * hundreds.digit as query,
        sides.digit as side
    from digits as ones
    cross join digits as tens
    cross join digits as hundreds
    cross join digits as sides
    where
        ones.digit + 10 * tens.digit + 100 * hundreds.digit < {{ queries }}
        and sides.digit < 4

),
{%- for step in range(4) %}
{%- set draw = "draw * draw + 12345" %}
{%- if step == 0 %}
{%- set draw = "cast(" ~ random_state ~ " as " ~ dbt.type_bigint() ~ ") * 15485863 + query * 104729 + side * 7919" %}
{%- endif %}

draws_{{ step }} as (

    select
        query,
        side,
        ({{ draw }}) % {{ prime }} as draw
    from {{ "draws_" ~ (step - 1) if step else "seeds" }}

),
{%- endfor %}

queries as (

    select
        query,
        {%- for side in range(4) %}
        max(case when side = {{ side }} then draw end) / cast({{ prime }} as {{ dbt_anonymize._type_double() }})
            as draw_{{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from draws_3
    group by query

),
{%- endmacro %}
