{# Select with one row per effort: `<qi>_sse_sst` of each interval and `sse_sst`, their mean. #}
{% macro sse_sst(classes, frequencies, quasi_identifiers, sample_shares={}) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set numbers = quasi_identifiers | selectattr("kind", "equalto", "interval") | list -%}
{%- set weighted, ratios = [], [] -%}
{%- for number in numbers if number.get("weight", 1) != 0 -%}
    {%- do weighted.append(number) -%}
    {%- do ratios.append("ratio_" ~ (numbers.index(number) + 1)) -%}
{%- endfor -%}
with
{%- if sample_shares %}
{{- dbt_anonymize._records_of_samples(numbers, frequencies, sample_shares) }}
{%- endif %}
{%- for number in numbers %}
{{- dbt_anonymize._sums_of_squares(
    loop.index, number, "records_of_samples" if sample_shares else frequencies, "sample_share" if sample_shares
) }}

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
    {%- if sample_shares %}
    left join samples on efforts.effort = samples.effort
    {%- endif %}
    {%- for number in numbers %}
    inner join levels_{{ loop.index }} on efforts.effort = levels_{{ loop.index }}.effort
    {%- if sample_shares %}
    left join errors_{{ loop.index }}
        on
            levels_{{ loop.index }}.level = errors_{{ loop.index }}.level
            and coalesce(samples.share, 1) = errors_{{ loop.index }}.sample_share
    left join totals_{{ loop.index }} on coalesce(samples.share, 1) = totals_{{ loop.index }}.sample_share
    {%- else %}
    left join errors_{{ loop.index }} on levels_{{ loop.index }}.level = errors_{{ loop.index }}.level
    cross join totals_{{ loop.index }}
    {%- endif %}
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


{# CTEs `samples`, the share of each effort that has one, and `records_of_samples`: the frequencies of each share, and
   of the whole source, whose share is 1. #}
{% macro _records_of_samples(numbers, frequencies, sample_shares) %}

samples as (

    {%- for effort, share in sample_shares.items() %}
    select
        {{ effort }} as effort,
        cast({{ dbt_anonymize._number(share) }} as {{ dbt_anonymize._type_double() }}) as share
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

records_of_samples as (

    select
        {%- for number in numbers %}
        frequencies.{{ dbt_anonymize._quote(number.name) }},
        frequencies.{{ dbt_anonymize._quote(number.name ~ "_leaf") }},
        {%- endfor %}
        frequencies.records,
        shares.share as sample_share
    from {{ frequencies }} as frequencies
    inner join (
        select distinct share from samples
        union
        select cast(1 as {{ dbt_anonymize._type_double() }}) as share
    ) as shares on frequencies.sample_share <= shares.share or shares.share = 1

),
{%- endmacro %}


{# CTEs of one interval: `totals_<i>`, the squared distances from the mean of all records, and `errors_<i>`, those from
   the mean of the label, by level. Distances from the mean, relative to the range of the values, keep the digits that
   squares of large and of tiny numbers lose. `by`: a column by which all of it is done. #}
{% macro _sums_of_squares(position, number, frequencies, by=none) -%}
{%- set name = dbt_anonymize._quote(number.name, "frequencies") %}

offsets_{{ position }} as (

    select
        {%- if by %}
        frequencies.{{ by }},
        {%- endif %}
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
        {%- if by %}
        {{ by }},
        {%- endif %}
        sum(records * distance) / sum(records) as mean,
        nullif(max(distance) - min(distance), 0) as spread
    from offsets_{{ position }}
    {{- "\n    group by " ~ by if by }}

),

leaves_{{ position }} as (

    select
        {%- if by %}
        {{ by }},
        {%- endif %}
        leaf,
        sum(records) as records,
        sum(records * from_mean) as distances,
        sum(records * from_mean * from_mean) as squares
    from (
        select
            {%- if by %}
            offsets.{{ by }},
            {%- endif %}
            offsets.leaf,
            offsets.records,
            (offsets.distance - means.mean) / means.spread as from_mean
        from offsets_{{ position }} as offsets
        {{ ("inner join means_" if by else "cross join means_") ~ position }} as means
        {{- "\n            on offsets." ~ by ~ " = means." ~ by if by }}
    ) as centred
    group by
        {%- if by %}
        {{ by }},
        {%- endif %}
        leaf

),

totals_{{ position }} as (

    select
        {{- "\n        " ~ by ~ ",\n       " if by }} sum(squares) as squares
    from leaves_{{ position }}
    {{- "\n    group by " ~ by if by }}

),

errors_{{ position }} as (

    select
        {%- if by %}
        {{ by }},
        {%- endif %}
        0 as level,
        cast(0 as {{ dbt_anonymize._type_double() }}) as squares
    {{- "\n    from totals_" ~ position if by }}
    {%- for level in range(1, number.levels + 1) %}

    union all

    select
        {%- if by %}
        {{ by }},
        {%- endif %}
        {{ level }} as level,
        sum(squares - distances * distances / records) as squares
    from (
        select
            {%- if by %}
            leaves.{{ by }},
            {%- endif %}
            sum(leaves.records) as records,
            sum(leaves.distances) as distances,
            sum(leaves.squares) as squares
        from {{ number.hierarchy }} as hierarchy
        inner join leaves_{{ position }} as leaves on hierarchy.lower_bound = leaves.leaf
        group by
            {%- if by %}
            leaves.{{ by }},
            {%- endif %}
            hierarchy.level_{{ level }}
    ) as labels
    {{- "\n    group by " ~ by if by }}
    {%- endfor %}

),
{%- endmacro %}
