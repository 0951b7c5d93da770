{# Select with one row per effort: `<qi>_sse_sst` of each interval and `sse_sst`, their mean. #}
{% macro sse_sst(classes, frequencies, quasi_identifiers) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set numbers = quasi_identifiers | selectattr("kind", "equalto", "interval") | list -%}
{%- set weighted, ratios = [], [] -%}
{%- for number in numbers if number.get("weight", 1) != 0 -%}
    {%- do weighted.append(number) -%}
    {%- do ratios.append("ratio_" ~ (numbers.index(number) + 1)) -%}
{%- endfor -%}
with
{%- for number in numbers %}
{{- dbt_anonymize._sums_of_squares(loop.index, number, frequencies) }}

levels_{{ loop.index }} as (

    {%- set level = dbt_anonymize._quote(number.name ~ "_level") %}

    {#- Labels of several levels, or of none, have no one error. #}
    select
        effort,
        case
            when count({{ level }}) = count(*) and min({{ level }}) = max({{ level }}) then max({{ level }})
        end as level
    from {{ classes }}
    group by effort

),
{%- endfor %}

ratios as (

    select
        efforts.effort{{ "," if numbers }}
        {%- for number in numbers %}
        {#- Numbers that are all equal have nothing to lose. #}
        case
            when levels_{{ loop.index }}.level is null then null
            when totals_{{ loop.index }}.squares > 0
                then errors_{{ loop.index }}.squares / totals_{{ loop.index }}.squares
            else 0
        end as ratio_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from (select distinct effort from {{ classes }}) as efforts
    {%- for number in numbers %}
    inner join levels_{{ loop.index }} on efforts.effort = levels_{{ loop.index }}.effort
    left join errors_{{ loop.index }} on levels_{{ loop.index }}.level = errors_{{ loop.index }}.level
    cross join totals_{{ loop.index }}
    {%- endfor %}

)

select
    effort,
    {%- for number in numbers %}
    {{ dbt_anonymize._rounded("ratio_" ~ loop.index) }} as {{ dbt_anonymize._quote(number.name ~ "_sse_sst") }},
    {%- endfor %}
    {%- if weighted %}
    {{ dbt_anonymize._rounded(dbt_anonymize._aggregate_attributes(ratios, weighted, "arithmetic_mean")) }} as sse_sst
    {%- else %}
    cast(null as {{ double }}) as sse_sst
    {%- endif %}
from ratios
{%- endmacro %}


{# CTEs of one interval: `totals_<i>`, the squared distances from the mean of all records, and `errors_<i>`, those from
   the mean of the label, by level. Distances from the mean, relative to the range of the values, keep the digits that
   squares of large and of tiny numbers lose. #}
{% macro _sums_of_squares(position, number, frequencies) -%}
{%- set name = dbt_anonymize._quote(number.name, "frequencies") %}

offsets_{{ position }} as (

    select
        frequencies.{{ dbt_anonymize._quote(number.name ~ "_leaf") }} as leaf,
        frequencies.records,
        {{ dbt_anonymize._width("lowest.bound", name, number.hierarchy) }} as distance
    from {{ frequencies }} as frequencies
    cross join (
        select min({{ dbt_anonymize._quote(number.name) }}) as bound
        from {{ frequencies }}
    ) as lowest
    where {{ name }} is not null

),

means_{{ position }} as (

    select
        sum(records * distance) / sum(records) as mean,
        nullif(max(distance) - min(distance), 0) as spread
    from offsets_{{ position }}

),

leaves_{{ position }} as (

    select
        leaf,
        sum(records) as records,
        sum(records * from_mean) as distances,
        sum(records * from_mean * from_mean) as squares
    from (
        select
            offsets.leaf,
            offsets.records,
            (offsets.distance - means.mean) / means.spread as from_mean
        from offsets_{{ position }} as offsets
        cross join means_{{ position }} as means
    ) as centred
    group by leaf

),

totals_{{ position }} as (

    select sum(squares) as squares from leaves_{{ position }}

),

errors_{{ position }} as (

    select
        0 as level,
        cast(0 as {{ dbt_anonymize._type_double() }}) as squares
    {%- for level in range(1, number.levels + 1) %}

    union all

    select
        {{ level }} as level,
        sum(squares - distances * distances / records) as squares
    from (
        select
            sum(leaves.records) as records,
            sum(leaves.distances) as distances,
            sum(leaves.squares) as squares
        from {{ number.hierarchy }} as hierarchy
        inner join leaves_{{ position }} as leaves on hierarchy.lower_bound = leaves.leaf
        group by hierarchy.level_{{ level }}
    ) as labels
    {%- endfor %}

),
{%- endmacro %}
