{# CTEs that end in `<prefix><source>_<number>`: a distance from the whole table that no aggregate gives. #}
{% macro _distance(source, numbered, prefix, whole, number, tree) -%}
{%- if source == "ordered" -%}
{{ dbt_anonymize._ordered_distance(numbered, prefix, whole, number) }}
{%- else -%}
{{ dbt_anonymize._hierarchical_distance(numbered, prefix, whole, number, tree) }}
{%- endif -%}
{%- endmacro %}


{#
  The earth mover's distance along the order of the values: the mean, over all values but the last, of the difference of
  the cumulative distributions. Between two values that follow each other in a class, its own distribution is constant.
#}
{% macro _ordered_distance(numbered, prefix, whole, number) %}

{{ prefix }}steps_{{ number }} as (

    select
        *,
        {%- set over -%}
        over (
            partition by
                {{ numbered | join(",\n                ") }}
            order by position
        )
        {%- endset %}
        sum(subjects) {{ over | replace(
            "order by position", "order by position rows between unbounded preceding and current row"
        ) }} as subjects_up_to,
        lead(position, 1, number_of_values) {{ over }} as next_position,
        lag(position) {{ over }} as earlier_position
    from {{ prefix }}compared_{{ number }}

),

{#- Before the first value of a class there is nobody, up to the position where it starts. #}

{{ prefix }}all_steps_{{ number }} as (

    select
        {%- for key in numbered %}
        {{ key }},
        {%- endfor %}
        class_subjects,
        table_subjects,
        number_of_values,
        subjects_up_to,
        position as from_position,
        next_position as to_position
    from {{ prefix }}steps_{{ number }}
    union all
    select
        {%- for key in numbered %}
        {{ key }},
        {%- endfor %}
        class_subjects,
        table_subjects,
        number_of_values,
        0 as subjects_up_to,
        1 as from_position,
        position as to_position
    from {{ prefix }}steps_{{ number }}
    where earlier_position is null

),

{{ prefix }}ordered_{{ number }} as (

    select
        {%- for key in numbered %}
        steps.{{ key }},
        {%- endfor %}
        case
            {#- A value that the whole table does not have has no place in its order. #}
            when sum(case when steps.from_position is null then 1 else 0 end) > 0 then null
            else coalesce(
                sum(abs(
                    steps.subjects_up_to * steps.table_subjects - steps.class_subjects * distribution.subjects_up_to
                ))
                / nullif(max(steps.class_subjects * steps.table_subjects * (steps.number_of_values - 1)), 0),
                0
            )
        end as ordered_t
    from {{ prefix }}all_steps_{{ number }} as steps
    left join {{ whole }}distribution_{{ number }} as distribution
        on
            steps.from_position <= distribution.position
            and steps.to_position > distribution.position
    group by
        {%- for key in numbered %}
        steps.{{ key }}{{ "," if not loop.last }}
        {%- endfor %}

),
{%- endmacro %}


{#
  The earth mover's distance along a tree of height h: moving one to a value under the same label of level L, and none
  lower, costs L / h. It is the mean, over the levels below the root, of the distance of the labels' distributions.
#}
{% macro _hierarchical_distance(numbered, prefix, whole, number, tree) -%}
{%- set double = dbt_anonymize._type_double() %}

{{ prefix }}moved_{{ number }} as (

    select
        {%- for key in numbered %}
        {{ key }},
        {%- endfor %}
        subjects,
        class_subjects,
        table_value_subjects,
        table_subjects
    from {{ prefix }}compared_{{ number }}
    {%- for level in range(1, tree.levels) %}
    union all
    select
        {%- for key in numbered %}
        labelled.{{ key }},
        {%- endfor %}
        labelled.subjects,
        labelled.class_subjects,
        cast(branches.subjects as {{ double }}) as table_value_subjects,
        labelled.table_subjects
    from (
        select
            {%- for key in numbered %}
            compared.{{ key }},
            {%- endfor %}
            coalesce(labels.level_{{ level }}, '*') as label,
            sum(compared.subjects) as subjects,
            max(compared.class_subjects) as class_subjects,
            max(compared.table_subjects) as table_subjects
        from {{ prefix }}compared_{{ number }} as compared
        left join {{ whole }}labels_{{ number }} as labels
            on compared.value = labels.value
        group by
            {%- for key in numbered %}
            compared.{{ key }},
            {%- endfor %}
            coalesce(labels.level_{{ level }}, '*')
    ) as labelled
    left join {{ whole }}branches_{{ number }} as branches
        on labelled.label = branches.label and branches.level = {{ level }}
    {%- endfor %}

),

{{ prefix }}hierarchical_{{ number }} as (

    select
        {{ numbered | join(",\n        ") }},
        sum(
            case
                when subjects * table_subjects > class_subjects * coalesce(table_value_subjects, 0)
                    then subjects * table_subjects - class_subjects * coalesce(table_value_subjects, 0)
                else 0
            end
        ) / max(class_subjects * table_subjects * {{ tree.levels }}) as hierarchical_t
    from {{ prefix }}moved_{{ number }}
    group by
        {{ numbered | join(",\n        ") }}

),
{%- endmacro %}
