{# CTEs that end in `errors_<v>`, one row per effort: median and 95th percentile (nearest rank) of the errors of random
   range queries. A query takes a range of leaves of each attribute; NULL is in no range. #}
{% macro _query_errors(v, view, quasi_identifiers, sanity_bound) -%}
{%- set names, intervals = quasi_identifiers | map(attribute="name") | list, [] -%}
{%- for name in view if quasi_identifiers[names.index(name)].kind == "interval" -%}
    {%- do intervals.append({"leaf": view.index(name) + 1, "number": names.index(name) + 1}) -%}
{%- endfor -%}
{%- set averaged = intervals[0] if intervals else none -%}
{%- set double = dbt_anonymize._type_double() %}

ranges_{{ v }} as (

    select
        queries.query,
        {%- for name in view %}
        {%- set draws = "(queries.draw_" ~ 2 * loop.index0 ~ ", queries.draw_" ~ (2 * loop.index0 + 1) ~ ")" %}
        floor(least{{ draws }} * size_{{ loop.index }}.leaves) as low_{{ loop.index }},
        floor(greatest{{ draws }} * size_{{ loop.index }}.leaves) as high_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from queries
    {%- for name in view %}
    cross join (
        select count(*) as leaves from leaves_{{ names.index(name) + 1 }} where position >= 0
    ) as size_{{ loop.index }}
    {%- endfor %}

),

answers_{{ v }} as (

    select
        cells.effort,
        ranges.query,
        {%- for side in ["original", "released"] %}
        {%- if averaged %}
        sum(cells.{{ side }} * leaves.midpoint) / nullif(sum(cells.{{ side }}), 0) as {{ side }}_mean,
        {%- else %}
        cast(null as {{ double }}) as {{ side }}_mean,
        {%- endif %}
        sum(cells.{{ side }}) as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from compared_{{ v }} as cells
    inner join ranges_{{ v }} as ranges
        on
            {%- for name in view %}
            {{ "and " if not loop.first }}cells.leaf_{{ loop.index }} >= ranges.low_{{ loop.index }}
            and cells.leaf_{{ loop.index }} <= ranges.high_{{ loop.index }}
            {%- endfor %}
    {%- if averaged %}
    inner join leaves_{{ averaged.number }} as leaves on cells.leaf_{{ averaged.leaf }} = leaves.position
    {%- endif %}
    group by
        cells.effort,
        ranges.query

),

ranked_{{ v }} as (

    select
        effort,
        {%- for error in ["count_error", "mean_error"] %}
        {{ error }},
        count({{ error }}) over (partition by effort) as {{ error }}s,
        row_number() over (
            partition by effort
            order by case when {{ error }} is null then 1 else 0 end, {{ error }}
        ) as {{ error }}_rank{{ "," if not loop.last }}
        {%- endfor %}
    from (
        select
            totals.effort,
            abs(
                coalesce(answers.released, 0) * totals.records / totals.share
                - coalesce(answers.original, 0) * whole.records
            )
            / greatest(
                coalesce(answers.original, 0) * whole.records, {{ dbt_anonymize._number(sanity_bound) }} * whole.records
            ) as count_error,
            {%- if averaged %}
            {#- Where the release has nobody to average, the error is the largest that there is. #}
            case
                when answers.original > 0 then coalesce(abs(answers.released_mean - answers.original_mean), 1)
            end as mean_error
            {%- else %}
            answers.original_mean as mean_error
            {%- endif %}
        from totals
        cross join (select records from totals where effort = 0) as whole
        cross join queries
        left join answers_{{ v }} as answers
            on
                totals.effort = answers.effort
                and queries.query = answers.query
    ) as errors

),

errors_{{ v }} as (

    select
        effort,
        {%- for error in ["count_error", "mean_error"] %}
        {%- set last = loop.last %}
        {%- for suffix, percent in [("median", 50), ("p95", 95)] %}
        min(case when 100 * {{ error }}_rank >= {{ percent }} * {{ error }}s then {{ error }} end)
            as {{ error }}_{{ suffix }}{{ "," if not (last and loop.last) }}
        {%- endfor %}
        {%- endfor %}
    from ranked_{{ v }}
    group by effort

),
{%- endmacro %}
