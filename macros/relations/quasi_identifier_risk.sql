{% macro quasi_identifier_risk(frequencies, quasi_identifiers) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set double = dbt_anonymize._type_double() %}
{#- Combinations of values up to which every subset is counted whole. #}
{%- set counted_whole = 1000000 %}
{%- set subsets = dbt_anonymize._subsets(quasi_identifiers | length) %}
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

domains as (

    select
        {%- for name in quasi_identifiers %}
        cast(max(code_{{ loop.index }}) as {{ double }}) + 1 as values_{{ loop.index }},
        {%- endfor %}
        cast(sum(records) as {{ double }}) as records,
        greatest(
            1, cast(ceil(count(*) / cast({{ counted_whole }} as {{ double }})) as {{ dbt.type_bigint() }})
        ) as one_in
    from coded

),

{# Of many tuples one class in `one_in` is counted; where there cannot be many classes, all are. -#}
subsets as (
    {%- for subset in subsets %}
    {%- set names, values = [], [] %}
    {%- for position in subset %}
    {%- do names.append(quasi_identifiers[position]) %}
    {%- do values.append("values_" ~ (position + 1)) %}
    {%- endfor %}

    select
        {{ loop.index }} as subset_number,
        {{ dbt_anonymize._literal(names | join(", ")) }} as quasi_identifiers,
        {{ subset | length }} as size,
        records,
        case when {{ values | join(" * ") }} <= {{ counted_whole }} then 1 else one_in end as one_in
    from domains
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

{{- dbt_anonymize._classes_of_subsets(subsets) }}

measured as (

    select
        subset_number,
        cast(count(*) as {{ double }}) as classes,
        sum(cast(class_size as {{ double }}) * (class_size - 1)) as equal_pairs,
        sum(case when class_size = 1 then cast(1 as {{ double }}) else 0 end) as alone
    from classes
    group by subset_number

)

select
    subsets.quasi_identifiers,
    subsets.size,
    measured.classes * subsets.one_in / subsets.records as distinction,
    1 - measured.equal_pairs * subsets.one_in
    / nullif(subsets.records * (subsets.records - 1), 0) as separation,
    measured.alone * subsets.one_in / subsets.records as uniqueness,
    subsets.one_in
from subsets
left join measured on subsets.subset_number = measured.subset_number
order by subsets.subset_number
{%- endmacro %}


{# CTE `classes` of every subset: those of which the hash of their values has the remainder 0. #}
{% macro _classes_of_subsets(subsets) %}

classes as (
    {%- for subset in subsets %}
    {%- set codes, hashed = [], [] %}
    {%- for position in subset %}
    {%- do codes.append("coded.code_" ~ (position + 1)) %}
    {%- do hashed.append(codes[-1] ~ " * " ~ dbt_anonymize._hash_factor(position)) %}
    {%- endfor %}

    select
        {{ loop.index }} as subset_number,
        sum(coded.records) as class_size
    from coded
    inner join subsets on subsets.subset_number = {{ loop.index }}
    where mod(mod({{ hashed | join(" + ") }}, 2147483647), subsets.one_in) = 0
    group by {{ codes | join(", ") }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}


{# A number below 2^31 by which codes are multiplied before they are summed (Carter and Wegman 1979). #}
{% macro _hash_factor(position) -%}
    {%- set factors = [
        1540483477, 1103515245, 2135587861, 1597334677, 1812433253,
        1664525693, 1299827461, 2027808481, 1925078383, 1183186591
    ] -%}
    {{ return("cast(" ~ factors[position % 10] ~ " as " ~ dbt.type_bigint() ~ ")") }}
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
