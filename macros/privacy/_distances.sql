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
        sum(people) {{ over | replace(
            "order by position", "order by position rows between unbounded preceding and current row"
        ) }} as people_up_to,
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
        class_people,
        table_people,
        number_of_values,
        people_up_to,
        position as from_position,
        next_position as to_position
    from {{ prefix }}steps_{{ number }}
    union all
    select
        {%- for key in numbered %}
        {{ key }},
        {%- endfor %}
        class_people,
        table_people,
        number_of_values,
        0 as people_up_to,
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
                sum(abs(steps.people_up_to * steps.table_people - steps.class_people * distribution.people_up_to))
                / nullif(max(steps.class_people * steps.table_people * (steps.number_of_values - 1)), 0),
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
        people,
        class_people,
        table_value_people,
        table_people
    from {{ prefix }}compared_{{ number }}
    {%- for level in range(1, tree.levels) %}
    union all
    select
        {%- for key in numbered %}
        labelled.{{ key }},
        {%- endfor %}
        labelled.people,
        labelled.class_people,
        cast(branches.people as {{ double }}) as table_value_people,
        labelled.table_people
    from (
        select
            {%- for key in numbered %}
            compared.{{ key }},
            {%- endfor %}
            coalesce(labels.level_{{ level }}, '*') as label,
            sum(compared.people) as people,
            max(compared.class_people) as class_people,
            max(compared.table_people) as table_people
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
                when people * table_people > class_people * coalesce(table_value_people, 0)
                    then people * table_people - class_people * coalesce(table_value_people, 0)
                else 0
            end
        ) / max(class_people * table_people * {{ tree.levels }}) as hierarchical_t
    from {{ prefix }}moved_{{ number }}
    group by
        {{ numbered | join(",\n        ") }}

),
{%- endmacro %}
