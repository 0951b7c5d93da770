{# CTEs that end in `errors`, one row per queried view and effort: median and 95th percentile (nearest rank) of the
   errors of random range queries. A query takes a range of leaves of each attribute; NULL is in no range. #}
{% macro _query_errors(quasi_identifiers, sanity_bound) -%}
{{ dbt_anonymize._answers(quasi_identifiers) }}
{{- dbt_anonymize._errors(sanity_bound) }}
{%- endmacro %}


{# What the original and the release answer, one row per view, effort and query whose ranges have records. #}
{% macro _answers(quasi_identifiers) %}

sizes as (
    {%- for quasi_identifier in quasi_identifiers %}

    select
        {{ loop.index }} as attribute_id,
        count(*) as leaves
    from leaves_{{ loop.index }}
    where position >= 0
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

ranges as (

    select
        views.view_id,
        queries.query,
        {%- for size, draws in [("sizes", [0, 1]), ("other_sizes", [2, 3])] %}
        {%- for end, function in [("low", "least"), ("high", "greatest")] %}
        {%- set drawn = function ~ "(queries.draw_" ~ draws[0] ~ ", queries.draw_" ~ draws[1] ~ ")" %}
        {%- set leaf = "floor(" ~ drawn ~ " * " ~ size ~ ".leaves)" %}
        {{ leaf if size == "sizes" else "coalesce(" ~ leaf ~ ", 0)" }} as {{ end }}_{{ draws[1] // 2 + 1 }}
        {{- "," if not (loop.last and size == "other_sizes") }}
        {%- endfor %}
        {%- endfor %}
    from views
    cross join queries
    inner join sizes on views.attribute_id = sizes.attribute_id
    left join sizes as other_sizes on views.other_attribute_id = other_sizes.attribute_id
    where views.is_queried

),

answers as (

    select
        compared.view_id,
        compared.effort,
        ranges.query,
        {%- for side in ["original", "released"] %}
        {#- Of the first interval. #}
        sum(compared.{{ side }} * coalesce(compared.midpoint_1, compared.midpoint_2))
        / nullif(sum(compared.{{ side }}), 0) as {{ side }}_mean,
        sum(compared.{{ side }}) as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from compared
    inner join ranges
        on
            compared.view_id = ranges.view_id
            and compared.leaf_1 >= ranges.low_1
            and compared.leaf_1 <= ranges.high_1
            and compared.leaf_2 >= ranges.low_2
            and compared.leaf_2 <= ranges.high_2
    group by
        compared.view_id,
        compared.effort,
        ranges.query

),
{%- endmacro %}


{% macro _errors(sanity_bound) -%}
{%- set errors = ["count_error", "mean_error"] %}

query_errors as (

    select
        ranges.view_id,
        totals.effort,
        abs(
            coalesce(answers.released, 0) * totals.records / totals.share
            - coalesce(answers.original, 0) * totals.original_records
        )
        / (
            totals.original_records
            * greatest(coalesce(answers.original, 0), {{ dbt_anonymize._number(sanity_bound) }})
        ) as count_error,
        {#- Where the release has nobody to average, the error is the largest that there is. #}
        case
            when answers.original_mean is not null
                then coalesce(abs(answers.released_mean - answers.original_mean), 1)
        end as mean_error
    from ranges
    cross join totals
    left join answers
        on
            ranges.view_id = answers.view_id
            and ranges.query = answers.query
            and totals.effort = answers.effort

),

ranked as (

    select
        view_id,
        effort,
        {%- for error in errors %}
        {{ error }},
        count({{ error }}) over (partition by view_id, effort) as {{ error }}s,
        row_number() over (
            partition by view_id, effort
            order by case when {{ error }} is null then 1 else 0 end, {{ error }}
        ) as {{ error }}_rank{{ "," if not loop.last }}
        {%- endfor %}
    from query_errors

),

errors as (

    select
        view_id,
        effort,
        {%- for error in errors %}
        {%- set last = loop.last %}
        {%- for suffix, percent in [("median", 50), ("p95", 95)] %}
        min(case when 100 * {{ error }}_rank >= {{ percent }} * {{ error }}s then {{ error }} end)
            as {{ error }}_{{ suffix }}{{ "," if not (last and loop.last) }}
        {%- endfor %}
        {%- endfor %}
    from ranked
    group by
        view_id,
        effort

)
{%- endmacro %}
