{#
  CTE `correlation_<v>`, one row per effort: the correlation of two attributes in the original and in the release, each
  in leaf space; 0 where one of the two has one value only. `intervals`, the numbers of two intervals: Pearson's
  coefficient of the midpoints of leaves, without NULL. Otherwise Cramer's V, of which NULL is a category.
#}
{% macro _correlation(v, intervals) -%}
{{ dbt_anonymize._pearson(v, intervals) if intervals else dbt_anonymize._cramers_v(v) }}
{%- endmacro %}


{% macro _pearson(v, intervals) -%}
{%- set sides = ["original", "released"] %}

centres_{{ v }} as (

    select
        cells.effort,
        {%- for side in sides %}
        {%- for leaf in [1, 2] %}
        sum(cells.{{ side }} * side_{{ leaf }}.midpoint) / nullif(sum(cells.{{ side }}), 0) as {{ side }}_{{ leaf }},
        max(case when cells.{{ side }} > 0 then cells.leaf_{{ leaf }} end)
        > min(case when cells.{{ side }} > 0 then cells.leaf_{{ leaf }} end) as {{ side }}_{{ leaf }}_varies
        {{- "," if not (loop.last and side == "released") }}
        {%- endfor %}
        {%- endfor %}
    from compared_{{ v }} as cells
    {{- dbt_anonymize._midpoints_of_cells(intervals) }}
    group by cells.effort

),

correlation_{{ v }} as (

    select
        cells.effort,
        {%- for side in sides %}
        {%- set first = "(side_1.midpoint - centres." ~ side ~ "_1)" %}
        {%- set second = "(side_2.midpoint - centres." ~ side ~ "_2)" %}
        case
            when max(case when centres.{{ side }}_1_varies and centres.{{ side }}_2_varies then 1 else 0 end) = 1
                then
                    sum(cells.{{ side }} * {{ first }} * {{ second }})
                    / sqrt(sum(cells.{{ side }} * {{ first }} * {{ first }}))
                    / sqrt(sum(cells.{{ side }} * {{ second }} * {{ second }}))
            else 0
        end as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from compared_{{ v }} as cells
    {{- dbt_anonymize._midpoints_of_cells(intervals) }}
    inner join centres_{{ v }} as centres on cells.effort = centres.effort
    group by cells.effort

),
{%- endmacro %}


{% macro _cramers_v(v) -%}
{%- set sides = ["original", "released"] %}

margins_{{ v }} as (

    select
        effort,
        leaf_1,
        leaf_2,
        {%- for side in sides %}
        {{ side }},
        {%- for leaf in [1, 2] %}
        sum({{ side }}) over (partition by effort, leaf_{{ leaf }}) as {{ side }}_{{ leaf }}
        {{- "," if not (loop.last and side == "released") }}
        {%- endfor %}
        {%- endfor %}
    from compared_{{ v }}

),

{%- for leaf in [1, 2] %}

categories_{{ v }}_{{ leaf }} as (

    select
        effort,
        {%- for side in sides %}
        count(case when {{ side }} > 0 then 1 end) as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from (
        select
            effort,
            leaf_{{ leaf }},
            {%- for side in sides %}
            sum({{ side }}) as {{ side }}{{ "," if not loop.last }}
            {%- endfor %}
        from compared_{{ v }}
        group by
            effort,
            leaf_{{ leaf }}
    ) as values_{{ leaf }}
    group by effort

),
{%- endfor %}

correlation_{{ v }} as (

    select
        contingency.effort,
        {%- for side in sides %}
        case
            when categories_1.{{ side }} > 1 and categories_2.{{ side }} > 1
                then sqrt(
                    greatest(contingency.{{ side }}, 0)
                    / (least(categories_1.{{ side }}, categories_2.{{ side }}) - 1)
                )
            else 0
        end as {{ side }}{{ "," if not loop.last }}
        {%- endfor %}
    from (
        select
            effort,
            {%- for side in sides %}
            {#- Pairs that do not occur miss all that independence expects of them: 1 - sum(expected). #}
            {%- set expected = side ~ "_1 * " ~ side ~ "_2" %}
            1 - sum(case when {{ side }} > 0 then {{ expected }} else 0 end)
            + sum(
                case
                    when {{ side }} > 0
                        then ({{ side }} - {{ expected }}) * ({{ side }} - {{ expected }}) / ({{ expected }})
                    else 0
                end
            ) as {{ side }}{{ "," if not loop.last }}
            {%- endfor %}
        from margins_{{ v }}
        group by effort
    ) as contingency
    inner join categories_{{ v }}_1 as categories_1 on contingency.effort = categories_1.effort
    inner join categories_{{ v }}_2 as categories_2 on contingency.effort = categories_2.effort

),
{%- endmacro %}


{# Joins of the two attributes' leaves, by their numbers; -1 is NULL, which has no midpoint and stays out. #}
{% macro _midpoints_of_cells(numbers) -%}
    {%- for number in numbers %}
    inner join leaves_{{ number }} as side_{{ loop.index }}
        on
            cells.leaf_{{ loop.index }} = side_{{ loop.index }}.position
            and side_{{ loop.index }}.position >= 0
    {%- endfor -%}
{%- endmacro %}


{# The numbers of a pair of two interval quasi-identifiers; nothing of other pairs. #}
{% macro _interval_pair(pair, quasi_identifiers) -%}
    {%- set numbers = [] -%}
    {%- for name in pair -%}
        {%- for quasi_identifier in quasi_identifiers -%}
            {%- if quasi_identifier.name == name and quasi_identifier.kind == "interval" -%}
                {%- do numbers.append(loop.index) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(numbers if numbers | length == 2 else []) }}
{%- endmacro %}
