{# One row per broken rule: rule, level, violations. Empty for a well-formed hierarchy. #}
{% macro categorical_hierarchy_violations(hierarchy, levels, nested=true) -%}
with

leaves as (

    select
        {{ dbt_anonymize._as_text("value") }} as leaf,
        {%- for level in range(1, levels + 1) %}
        {{ dbt_anonymize._as_text("level_" ~ level) }} as level_{{ level }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ hierarchy }}

),

violations as (

    {{ dbt_anonymize._violation("it has at least one value", none, "case when count(*) = 0 then 1 else 0 end") }}
    from leaves

    union all

    {{ dbt_anonymize._violation("values are not NULL (NULL generalizes to * by itself)", none, "count(*)") }}
    from leaves
    where leaf is null

    union all

    {{ dbt_anonymize._violation("values are unique", none, "count(leaf) - count(distinct leaf)") }}
    from leaves

    union all

    {{ dbt_anonymize._violation("the root label * is not a value", none, "count(*)") }}
    from leaves
    where leaf = '*'
    {{- dbt_anonymize._level_violations(levels, nested) }}

)

select
    rule,
    level,
    violations
from violations
where violations > 0
{%- endmacro %}
