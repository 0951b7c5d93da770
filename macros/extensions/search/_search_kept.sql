{# What a search must know of a kept column beside its codes, one macro for each question. #}


{# How many values it has, and how many records have none. #}
{% macro _search_kept_counts(frequencies, column) -%}
{%- set kept = dbt_anonymize._quote(column) -%}
select
    count(distinct {{ kept }}) as size,
    coalesce(sum(case when {{ kept }} is null then records else 0 end), 0) as missing
from {{ frequencies }}
{%- endmacro %}


{# Codes of the values that are named, as text; a name that does not occur has none. #}
{% macro _search_kept_codes(frequencies, column, names) -%}
with

{{ dbt_anonymize._search_kept_values("kept_values", frequencies, column) }}

select code
from kept_values
where {{ dbt_anonymize._as_text("found") }} in ({{ dbt_anonymize._literals(names) }})
order by code
{%- endmacro %}


{# One row per value, in the order of its codes: the code of its label at each level of its hierarchy; -1 where the
   hierarchy does not have the value. #}
{% macro _search_kept_tree(frequencies, column, hierarchy, levels) -%}
with

{{ dbt_anonymize._search_kept_values("kept_values", frequencies, column) }},

labels as (

    select
        {{ dbt_anonymize._as_text("value") }} as leaf,
        {%- for level in range(1, levels + 1) %}
        {%- set label = dbt_anonymize._as_text("level_" ~ level) %}
        dense_rank() over (order by min({{ label }})) - 1 as level_{{ level }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ hierarchy }}
    group by {{ dbt_anonymize._as_text("value") }}

)

select
    {%- for level in range(1, levels + 1) %}
    coalesce(labels.level_{{ level }}, -1) as level_{{ level }}{{ "," if not loop.last }}
    {%- endfor %}
from kept_values
left join labels
    on {{ dbt_anonymize._as_text("kept_values.found") }} = labels.leaf
order by kept_values.code
{%- endmacro %}
