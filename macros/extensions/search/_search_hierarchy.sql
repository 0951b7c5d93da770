{# One row per leaf of a hierarchy, in the order of its codes 0, 1, ..: the code of its label at each level (the labels
   of a level in the order of text) and whether that label is `*`. One row per leaf even if it stands there twice. #}
{% macro _search_hierarchy(hierarchy, kind, levels) -%}
with

leaves as (

    select
        {{ dbt_anonymize._search_leaf(kind) }} as leaf,
        {%- if kind == "interval" %}
        max(upper_bound) as upper_bound,
        {%- endif %}
        {%- for level in range(1, levels + 1) %}
        min({{ dbt_anonymize._as_text("level_" ~ level) }}) as label_{{ level }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ hierarchy }}
    group by {{ dbt_anonymize._search_leaf(kind) }}

)

select
    {%- for level in range(1, levels + 1) %}
    dense_rank() over (order by label_{{ level }}) - 1 as level_{{ level }},
    case when label_{{ level }} = '*' then 1 else 0 end as is_root_{{ level }}{{ "," if not loop.last }}
    {%- endfor %}
from leaves
order by leaf
{%- endmacro %}


{# What `<quasi-identifier>_leaf` of the frequencies equals. #}
{% macro _search_leaf(kind) -%}
    {{ return("lower_bound" if kind == "interval" else dbt_anonymize._as_text("value")) }}
{%- endmacro %}


{# Bounds of the intervals, in the order of their codes. #}
{% macro _search_bounds(hierarchy) -%}
select
    lower_bound,
    max(upper_bound) as upper_bound
from {{ hierarchy }}
group by lower_bound
order by lower_bound
{%- endmacro %}
