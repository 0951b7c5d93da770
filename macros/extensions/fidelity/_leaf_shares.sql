{#
  CTEs of one attribute: `labels_<i>`, a number for each of its released labels; of a quasi-identifier `leaves_<i>`, one
  row per leaf with its `position` from 0 (-1 is NULL); and `covered_<i>`, which leaves each label covers. Above level 0
  `*` covers all leaves, and NULL too where the column has NULLs. A mode covers the leaves of its group: those under the
  label above it, at the level of the record. A text that is a label of its level is no mode.
#}
{% macro _covered_leaves(i, quasi_identifier, has_modes) -%}
{%- set keys = dbt_anonymize._keys_of_label(i, quasi_identifier) %}

labels_{{ i }} as (

    select
        {{ keys | join(",\n        ") }},
        row_number() over (order by {{ keys | join(", ") }}) as label_{{ i }}
    from released
    group by
        {{ keys | join(",\n        ") }}

),
{%- if quasi_identifier and quasi_identifier.kind == "interval" %}
{{- dbt_anonymize._interval_leaves(i, quasi_identifier) }}
{%- elif quasi_identifier %}
{{- dbt_anonymize._categorical_leaves(i, quasi_identifier, has_modes) }}
{%- endif %}
{%- endmacro %}


{# The columns of `released` that tell a label; of what is compared value by value the value. #}
{% macro _keys_of_label(i, quasi_identifier) -%}
    {%- if not quasi_identifier -%}{{ return(["value_" ~ i]) }}{%- endif -%}
    {%- set is_interval = quasi_identifier.kind == "interval" -%}
    {{ return(["lower_" ~ i, "upper_" ~ i] if is_interval else ["text_" ~ i, "level_" ~ i]) }}
{%- endmacro %}


{% macro _interval_leaves(i, quasi_identifier) -%}
{%- set hierarchy = quasi_identifier.hierarchy %}

leaves_{{ i }} as (

    select
        row_number() over (order by lower_bound) - 1 as position,
        lower_bound,
        upper_bound,
        {#- 0 at the lowest bound and 1 at the highest. #}
        (
            {{ dbt_anonymize._width("min(lower_bound) over ()", "lower_bound", hierarchy) }}
            + {{ dbt_anonymize._width("min(lower_bound) over ()", "upper_bound", hierarchy) }}
        ) / 2
        / {{ dbt_anonymize._width("min(lower_bound) over ()", "max(upper_bound) over ()", hierarchy) }} as midpoint
    from {{ hierarchy }}
    group by
        lower_bound,
        upper_bound

    union all

    select
        -1 as position,
        null as lower_bound,
        null as upper_bound,
        null as midpoint
    from labels_{{ i }}
    where upper_{{ i }} is null

),

covered_{{ i }} as (

    select
        labels_{{ i }}.label_{{ i }},
        leaves_{{ i }}.position,
        leaves_{{ i }}.midpoint
    from labels_{{ i }}
    left join leaves_{{ i }}
        on case
            when labels_{{ i }}.upper_{{ i }} is null then leaves_{{ i }}.position = -1
            when labels_{{ i }}.lower_{{ i }} is null then true
            when leaves_{{ i }}.position = -1 then false
            when labels_{{ i }}.lower_{{ i }} >= leaves_{{ i }}.lower_bound
                then labels_{{ i }}.lower_{{ i }} < leaves_{{ i }}.upper_bound
            else labels_{{ i }}.upper_{{ i }} > leaves_{{ i }}.lower_bound
        end

),
{%- endmacro %}


{% macro _categorical_leaves(i, quasi_identifier, has_modes) -%}
{%- set double, hierarchy = dbt_anonymize._type_double(), quasi_identifier.hierarchy %}

leaves_{{ i }} as (

    select
        row_number() over (order by leaf) - 1 as position,
        leaf
    from (select distinct {{ dbt_anonymize._as_text("value") }} as leaf from {{ hierarchy }}) as leaves

    union all

    select
        -1 as position,
        null as leaf
    from labels_{{ i }}
    where text_{{ i }} = '*' and level_{{ i }} = 0

),

branches_{{ i }} as (
    {%- for level in range(quasi_identifier.levels) %}
    {%- set text = "hierarchy.value" if level == 0 else "hierarchy.level_" ~ level %}

    select distinct
        {{ dbt_anonymize._as_text(text) }} as text_{{ i }},
        {{ level }} as level_{{ i }},
        leaves.position
    from {{ hierarchy }} as hierarchy
    inner join leaves_{{ i }} as leaves on {{ dbt_anonymize._as_text("hierarchy.value") }} = leaves.leaf

    union all
    {%- endfor %}

    {%- for level in range(1, quasi_identifier.levels + 1) if has_modes %}

    select
        labels.text_{{ i }},
        labels.level_{{ i }},
        leaves.position
    from labels_{{ i }} as labels
    inner join {{ hierarchy }} as mode on labels.text_{{ i }} = {{ dbt_anonymize._as_text("mode.value") }}
    inner join {{ hierarchy }} as hierarchy on mode.level_{{ level }} = hierarchy.level_{{ level }}
    inner join leaves_{{ i }} as leaves on {{ dbt_anonymize._as_text("hierarchy.value") }} = leaves.leaf
    where
        labels.level_{{ i }} = {{ level }}
        and labels.text_{{ i }} not in (
            select {{ dbt_anonymize._as_text("level_" ~ level) }}
            from {{ hierarchy }}
            where level_{{ level }} is not null
        )

    union all
    {%- endfor %}

    select
        '*' as text_{{ i }},
        -1 as level_{{ i }},
        position
    from leaves_{{ i }}

    union all

    select
        '*' as text_{{ i }},
        0 as level_{{ i }},
        position
    from leaves_{{ i }}
    where position = -1

),

covered_{{ i }} as (

    select
        labels_{{ i }}.label_{{ i }},
        branches_{{ i }}.position,
        cast(null as {{ double }}) as midpoint
    from labels_{{ i }}
    left join branches_{{ i }}
        on
            labels_{{ i }}.text_{{ i }} = branches_{{ i }}.text_{{ i }}
            and labels_{{ i }}.level_{{ i }} = branches_{{ i }}.level_{{ i }}

),
{%- endmacro %}


{# CTE `spread`: the leaves that every released label covers, each with the same `weight`; the weights of a label add up
   to 1. Fails where a label covers no leaf. #}
{% macro _spread(attributes, quasi_identifiers) -%}
{%- set double = dbt_anonymize._type_double() %}

spread as (

    select
        attribute_id,
        label_id,
        position,
        midpoint,
        cast(1 as {{ double }}) / count(*) over (partition by attribute_id, label_id) as weight
    from (
        {%- for name in attributes %}
        {%- set i = loop.index %}
        {%- set stop = dbt_anonymize._raise_in_sql(
            model.name ~ ": a label of " ~ name ~ " is not in its hierarchy. Build again from the microdata on.",
            "position"
        ) %}

        select
            {{ i }} as attribute_id,
            label_{{ i }} as label_id,
            {%- if i <= quasi_identifiers | length %}
            case when position >= -1 then position else {{ stop }} end as position,
            midpoint
        from covered_{{ i }}
            {%- else %}
            case when value_{{ i }} is null then -1 else label_{{ i }} end as position,
            cast(null as {{ double }}) as midpoint
        from labels_{{ i }}
            {%- endif %}
        {{- "\n\n        union all" if not loop.last }}
        {%- endfor %}
    ) as leaves

),
{%- endmacro %}
