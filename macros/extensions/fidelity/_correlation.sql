{#
  CTE `correlations`, one row per pair and effort: the correlation in the original and in the release, each in leaf
  space; 0 where one of the two attributes has one value only. Pearson's coefficient of the midpoints of two intervals,
  without NULL; otherwise Cramer's V, of which NULL is a category.
#}
{% macro _correlations() -%}
{%- set sides = ["original", "released"] -%}
{{ dbt_anonymize._pearson(sides) }}
{{- dbt_anonymize._cramers_v(sides) }}

correlations as (
    {%- for relation in ["coefficients", "associations"] %}

    select
        view_id,
        effort,
        original,
        released
    from {{ relation }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}


{% macro _pearson(sides) %}

centres as (

    select
        view_id,
        effort,
        {%- for side in sides %}
        {%- for leaf in [1, 2] %}
        sum({{ side }} * midpoint_{{ leaf }}) / nullif(sum({{ side }}), 0) as {{ side }}_{{ leaf }},
        count(distinct case when {{ side }} > 0 then leaf_{{ leaf }} end) as {{ side }}_values_{{ leaf }}
        {{- "," if not (loop.last and side == "released") }}
        {%- endfor %}
        {%- endfor %}
    from compared
    {#- NULL has no midpoint. #}
    where midpoint_1 is not null and midpoint_2 is not null
    group by
        view_id,
        effort

),

deviations as (

    select
        centres.view_id,
        centres.effort,
        {%- for side in sides %}
        compared.{{ side }},
        compared.midpoint_1 - centres.{{ side }}_1 as {{ side }}_1,
        compared.midpoint_2 - centres.{{ side }}_2 as {{ side }}_2,
        least(centres.{{ side }}_values_1, centres.{{ side }}_values_2) as {{ side }}_values{{ "," if not loop.last }}
        {%- endfor %}
    from compared
    inner join centres
        on
            compared.view_id = centres.view_id
            and compared.effort = centres.effort
    where compared.midpoint_1 is not null and compared.midpoint_2 is not null

),

coefficients as (

    select
        view_id,
        effort,
        {%- for side in sides %}
        case
            when min({{ side }}_values) > 1
                then
                    sum({{ side }} * {{ side }}_1 * {{ side }}_2)
                    / sqrt(sum({{ side }} * {{ side }}_1 * {{ side }}_1))
                    / sqrt(sum({{ side }} * {{ side }}_2 * {{ side }}_2))
            else 0
        end as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from deviations
    group by
        view_id,
        effort

),
{%- endmacro %}


{% macro _cramers_v(sides) %}

margins as (

    select
        compared.view_id,
        compared.effort,
        compared.leaf_1,
        compared.leaf_2,
        {%- for side in sides %}
        compared.{{ side }},
        sum(compared.{{ side }}) over (partition by compared.view_id, compared.effort, compared.leaf_1)
        * sum(compared.{{ side }}) over (partition by compared.view_id, compared.effort, compared.leaf_2)
            as {{ side }}_expected{{ "," if not loop.last }}
        {%- endfor %}
    from compared
    inner join views on compared.view_id = views.view_id
    where views.other_attribute is not null and not views.is_numeric

),

contingencies as (

    select
        view_id,
        effort,
        {%- for side in sides %}
        {#- Mean square contingency. #}
        sum(case when {{ side }} > 0 then {{ side }} * {{ side }} / {{ side }}_expected else 0 end) - 1 as {{ side }},
        {%- for leaf in [1, 2] %}
        count(distinct case when {{ side }} > 0 then leaf_{{ leaf }} end) as {{ side }}_values_{{ leaf }}
        {{- "," if not (loop.last and side == "released") }}
        {%- endfor %}
        {%- endfor %}
    from margins
    group by
        view_id,
        effort

),

associations as (

    select
        view_id,
        effort,
        {%- for side in sides %}
        {%- set fewest = "least(" ~ side ~ "_values_1, " ~ side ~ "_values_2)" %}
        case
            when {{ fewest }} > 1
                then sqrt(greatest({{ side }}, 0) / ({{ fewest }} - 1))
            else 0
        end as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from contingencies

),
{%- endmacro %}
