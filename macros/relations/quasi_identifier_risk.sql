{% macro quasi_identifier_risk(frequencies, quasi_identifiers) -%}
{{ config(materialized="table") }}
with

tuples as (

    select
        {%- for name in quasi_identifiers %}
        {{ dbt_anonymize._quote(name) }} as value_{{ loop.index }},
        {%- endfor %}
        sum(records) as records
    from {{ frequencies }}
    group by
        {%- for name in quasi_identifiers %}
        {{ dbt_anonymize._quote(name) }}{{ "," if not loop.last }}
        {%- endfor %}

),
{%- for name in quasi_identifiers %}

codes_{{ loop.index }} as (

    select
        value_{{ loop.index }},
        cast(row_number() over (order by value_{{ loop.index }}) as integer) as code
    from (
        select distinct value_{{ loop.index }}
        from tuples
        where value_{{ loop.index }} is not null
    ) as found

),
{%- endfor %}

{# Every subset groups all tuples once more: numbers take half the time and memory of texts. 0 is NULL. -#}
coded as (

    select
        {%- for name in quasi_identifiers %}
        coalesce(codes_{{ loop.index }}.code, 0) as code_{{ loop.index }},
        {%- endfor %}
        cast(tuples.records as {{ dbt.type_bigint() }}) as records
    from tuples
    {%- for name in quasi_identifiers %}
    left join codes_{{ loop.index }} on tuples.value_{{ loop.index }} = codes_{{ loop.index }}.value_{{ loop.index }}
    {%- endfor %}

),

subsets as (
    {%- set measures = dbt_anonymize._distinction_and_separation() | indent(4) %}
    {%- for subset in dbt_anonymize._subsets(quasi_identifiers | length) %}
    {%- set names, codes = [], [] %}
    {%- for position in subset %}
    {%- do names.append(quasi_identifiers[position]) %}
    {%- do codes.append("code_" ~ (position + 1)) %}
    {%- endfor %}

    select
        {{ loop.index }} as subset_number,
        {{ dbt_anonymize._literal(names | join(", ")) }} as quasi_identifiers,
        {{ subset | length }} as size,
        {{ measures }}
    from (
        select cast(sum(records) as {{ dbt.type_bigint() }}) as class_size
        from coded
        group by {{ codes | join(", ") }}
    ) as classes
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

)

select
    quasi_identifiers,
    size,
    distinction,
    separation,
    uniqueness
from subsets
order by subset_number
{%- endmacro %}


{# The positions of every non-empty subset, small subsets first; beyond ten columns, where there are too many of them,
   those of at most three. #}
{% macro _subsets(number) -%}
    {%- set subsets = [] -%}
    {%- set smaller = [[]] -%}
    {%- for size in range(1, (number if number <= 10 else 3) + 1) -%}
        {%- set extended = [] -%}
        {%- for subset in smaller -%}
            {%- for position in range(subset[-1] + 1 if subset else 0, number) -%}
                {%- do extended.append(subset + [position]) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- do subsets.extend(extended) -%}
        {%- do smaller.clear() -%}
        {%- do smaller.extend(extended) -%}
    {%- endfor -%}
    {{ return(subsets) }}
{%- endmacro %}
