{#
  CTEs of one quasi-identifier: `leaves_<i>`, one row per leaf with its `position` from 0 (-1 is NULL, where the column
  has NULLs), and `spread_<i>`, which leaves every released label covers, each with the same `weight`; the weights of
  a label add up to 1. Above level 0 `*` covers all leaves, NULL included; at level 0 it is NULL.
#}
{% macro _leaf_shares(quasi_identifier, i) -%}
{%- set double, hierarchy = dbt_anonymize._type_double(), quasi_identifier.hierarchy -%}
{%- if quasi_identifier.kind == "interval" %}

leaves_{{ i }} as (

    select
        row_number() over (order by lower_bound) - 1 as position,
        lower_bound,
        upper_bound,
        {#- The midpoint, 0 at the lowest bound and 1 at the highest. #}
        (
            {{ dbt_anonymize._width("min(lower_bound) over ()", "lower_bound", hierarchy) }}
            + {{ dbt_anonymize._width("min(lower_bound) over ()", "upper_bound", hierarchy) }}
        ) / 2
        / {{ dbt_anonymize._width("min(lower_bound) over ()", "max(upper_bound) over ()", hierarchy) }} as midpoint
    from (select distinct lower_bound, upper_bound from {{ hierarchy }}) as leaves
    union all
    select
        -1 as position,
        null as lower_bound,
        null as upper_bound,
        null as midpoint
    where exists (select 1 from released where upper_{{ i }} is null)

),

spread_{{ i }} as (

    select
        shown.lower_{{ i }},
        shown.upper_{{ i }},
        leaves.position,
        cast(1 as {{ double }}) / count(*) over (partition by shown.lower_{{ i }}, shown.upper_{{ i }}) as weight
    from (select distinct lower_{{ i }}, upper_{{ i }} from released) as shown
    inner join leaves_{{ i }} as leaves
        on case
            when shown.upper_{{ i }} is null then leaves.position = -1
            when shown.lower_{{ i }} is null then true
            when leaves.position = -1 then false
            when shown.lower_{{ i }} = shown.upper_{{ i }}
                then leaves.lower_bound <= shown.lower_{{ i }} and shown.lower_{{ i }} < leaves.upper_bound
            else leaves.lower_bound < shown.upper_{{ i }} and shown.lower_{{ i }} < leaves.upper_bound
        end

),
{%- else %}

leaves_{{ i }} as (

    select
        row_number() over (order by leaf) - 1 as position,
        leaf
    from (select distinct {{ dbt_anonymize._as_text("value") }} as leaf from {{ hierarchy }}) as leaves
    union all
    select
        -1 as position,
        null as leaf
    from (select distinct label_{{ i }} from released where label_{{ i }} = '*' and level_{{ i }} = 0) as nulls

),

spread_{{ i }} as (

    select
        label_{{ i }},
        level_{{ i }},
        position,
        cast(1 as {{ double }}) / count(*) over (partition by label_{{ i }}, level_{{ i }}) as weight
    from (
        {%- for level in range(quasi_identifier.levels) %}
        {%- set label = "hierarchy.value" if level == 0 else "hierarchy.level_" ~ level %}
        select distinct
            {{ dbt_anonymize._as_text(label) }} as label_{{ i }},
            {{ level }} as level_{{ i }},
            leaves.position
        from {{ hierarchy }} as hierarchy
        inner join leaves_{{ i }} as leaves on {{ dbt_anonymize._as_text("hierarchy.value") }} = leaves.leaf
        union all
        {%- endfor %}
        select
            '*' as label_{{ i }},
            -1 as level_{{ i }},
            position
        from leaves_{{ i }}
        union all
        select
            '*' as label_{{ i }},
            0 as level_{{ i }},
            position
        from leaves_{{ i }}
        where position = -1
    ) as covered

),
{%- endif %}
{%- endmacro %}


{# CTE `released`: the released records of every effort, counted by what they show of each attribute. NULL has no
   bounds, and `*` has no lower one. #}
{% macro _released_counts(efforts, quasi_identifiers, columns) -%}
released as (

    {%- for number, effort in efforts.items() %}
    {%- set shown, keys = [], [] %}
    {%- for quasi_identifier in quasi_identifiers %}
    {%- set i, name = loop.index, quasi_identifier.name %}
    {%- set label = dbt_anonymize._quote(name) %}
    {%- set level = effort.levels[name] if effort.levels else dbt_anonymize._quote(name ~ "_level") %}
    {%- do keys.append(label) %}
    {%- if not effort.levels %}{% do keys.append(level) %}{% endif %}
    {%- if quasi_identifier.kind == "interval" %}
    {%- for end in ["lower", "upper"] %}
    {%- set bound = dbt_anonymize._quote(name ~ "_" ~ end) %}
    {%- do keys.append(bound) %}
    {%- set is_missing = label ~ " = '*'" ~ (" and " ~ level ~ " = 0" if end == "upper" else "") %}
    {%- do shown.append("case when " ~ is_missing ~ " then null else " ~ bound ~ " end as " ~ end ~ "_" ~ i) %}
    {%- endfor %}
    {%- else %}
    {%- do shown.append(label ~ " as label_" ~ i) %}
    {%- do shown.append(
        "case when " ~ label ~ " = '*' and coalesce(" ~ level ~ ", 1) > 0 then -1 else " ~ level ~ " end as level_" ~ i
    ) %}
    {%- endif %}
    {%- endfor %}
    {%- for column in columns %}
    {%- do keys.append(dbt_anonymize._quote(column)) %}
    {%- do shown.append(
        dbt_anonymize._as_text(dbt_anonymize._quote(column)) ~ " as value_" ~ (quasi_identifiers | length + loop.index)
    ) %}
    {%- endfor %}
    select
        {{ number }} as effort,
        {{ shown | join(",\n        ") }},
        count(*) as records
    from {{ effort.relation }}
    where not is_suppressed
    group by
        {{ keys | join(",\n        ") }}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}
