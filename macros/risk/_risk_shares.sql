{# CTEs that end in `shares`: for each effort of `efforts` and each interval of risk its `records_share` and
   `cumulative_share`, from `sizes` (effort, class_size, records). #}
{% macro _risk_shares() -%}
{#- The smallest class size of each interval: the sizes that thresholds of risk are made of. -#}
{%- set sizes = [1, 2, 3, 4, 5, 10, 11, 20, 50, 100, 1000] -%}
{%- set double = dbt_anonymize._type_double() -%}
intervals as (
    {%- for size in sizes %}

    select
        {{ size }} as smallest_size,
        {{ "cast(null as integer)" if loop.last else sizes[loop.index] - 1 }} as largest_size,
        {% if loop.last -%}
        cast(0 as {{ double }}) as risk_from,
        {%- else -%}
        cast(1 as {{ double }}) / {{ sizes[loop.index] }} as risk_from,
        {%- endif %}
        cast(1 as {{ double }}) / {{ size }} as risk_to
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

counted as (

    select
        efforts.effort,
        intervals.risk_from,
        intervals.risk_to,
        cast(coalesce(sum(sizes.records), 0) as {{ double }}) as records
    from efforts
    cross join intervals
    left join sizes
        on
            efforts.effort = sizes.effort
            and intervals.smallest_size <= sizes.class_size
            and (intervals.largest_size >= sizes.class_size or intervals.largest_size is null)
    group by efforts.effort, intervals.risk_from, intervals.risk_to

),

shares as (

    select
        effort,
        risk_from,
        risk_to,
        records / nullif(sum(records) over (partition by effort), 0) as records_share,
        sum(records) over (partition by effort order by risk_to rows between unbounded preceding and current row)
        / nullif(sum(records) over (partition by effort), 0) as cumulative_share
    from counted

)
{%- endmacro %}
