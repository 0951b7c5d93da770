{# One row per broken rule: rule, level, violations. Empty for a well-formed hierarchy. #}
{% macro interval_hierarchy_violations(hierarchy, levels, nested=true) -%}
with

leaves as (

    select
        lower_bound,
        upper_bound,
        {%- for level in range(1, levels + 1) %}
        {{ dbt_anonymize._as_text("level_" ~ level) }} as level_{{ level }},
        {%- endfor %}
        lead(lower_bound) over (order by lower_bound) as next_lower_bound,
        row_number() over (order by lower_bound) as leaf_number
    from {{ hierarchy }}

),

violations as (

    {{ dbt_anonymize._violation("it has at least one interval", none, "case when count(*) = 0 then 1 else 0 end") }}
    from leaves

    union all

    {{ dbt_anonymize._violation("bounds are finite and lower_bound < upper_bound", none, "count(*)") }}
    from leaves
    where
        lower_bound is null
        or upper_bound is null
        or lower({{ dbt_anonymize._as_text("lower_bound") }}) in {{ dbt_anonymize._not_finite() }}
        or lower({{ dbt_anonymize._as_text("upper_bound") }}) in {{ dbt_anonymize._not_finite() }}
        or lower_bound >= upper_bound

    union all

    {{ dbt_anonymize._violation("intervals have no gap between them", none, "count(*)") }}
    from leaves
    where next_lower_bound > upper_bound

    union all

    {{ dbt_anonymize._violation("intervals do not overlap", none, "count(*)") }}
    from leaves
    where next_lower_bound < upper_bound

    union all

    {{ dbt_anonymize._violation("labels of level 1 are unique", 1, "count(level_1) - count(distinct level_1)") }}
    from leaves
    {%- for level in range(1, levels) %}

    union all

    {{ dbt_anonymize._violation("labels cover neighbouring intervals", level, "count(*)") }}
    from (
        select level_{{ level }}
        from leaves
        group by level_{{ level }}
        having max(leaf_number) - min(leaf_number) + 1 > count(*)
    ) as scattered

    union all

    {{ dbt_anonymize._violation("the root label * stands at the top level only", level, "count(*)") }}
    from leaves
    where level_{{ level }} = '*'
    {%- endfor %}
    {{- dbt_anonymize._level_violations(levels, nested) }}

)

select
    rule,
    level,
    violations
from violations
where violations > 0
{%- endmacro %}


{% macro _not_finite() -%}
('nan', 'inf', '-inf', 'infinity', '-infinity')
{%- endmacro %}
