{# CTE `queries`: for each query four numbers in [0, 1), the same on every engine: they choose the leaves of its ranges.
   Squares modulo a prime, so that neighbouring queries have nothing in common. #}
{% macro _random_queries(queries, random_state) -%}
{%- set prime = 2147483647 -%}
{%- set first -%}
cast({{ random_state }} as {{ dbt.type_bigint() }}) * 15485863 + query * 104729 + side * 7919
{%- endset %}

digits as (

    {%- for digit in range(10) %}
    select {{ digit }} as digit
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

numbers as (

    select ones.digit + 10 * tens.digit + 100 * hundreds.digit as query
    from digits as ones
    cross join digits as tens
    cross join digits as hundreds

),

{%- for step in range(4) %}

draws_{{ step }} as (

    {%- if step == 0 %}
    select
        query,
        side,
        ({{ first }}) % {{ prime }} as draw
    from numbers
    cross join (select digit as side from digits where digit < 4) as sides
    where query < {{ queries }}
    {%- else %}
    select
        query,
        side,
        (draw * draw + 12345) % {{ prime }} as draw
    from draws_{{ step - 1 }}
    {%- endif %}

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
