{# One row per raw value of a quasi-identifier, in the order of its codes 0, 1, ..: the code of its leaf.
   Only an interval attribute whose raw values may be released needs it; those of others are their leaves. #}
{% macro _search_values(relations, quasi_identifier) -%}
with

{{ dbt_anonymize._search_leaves("leaves", quasi_identifier) }},

{{ dbt_anonymize._search_raw_values("raw_values", relations, quasi_identifier) }}

select leaves.code as leaf
from raw_values
inner join leaves
    on raw_values.leaf = leaves.found
order by raw_values.found
{%- endmacro %}


{# What has the codes 0, 1, .. of a quasi-identifier, in their order: its raw values, or the leaves of its hierarchy. #}
{% macro _search_values_in_order(relations, quasi_identifier, by) -%}
with

{% if by == "raw" -%}
{{ dbt_anonymize._search_raw_values("coded", relations, quasi_identifier) }}
{%- else -%}
{{ dbt_anonymize._search_leaves("coded", quasi_identifier) }}
{%- endif %}

select found
from coded
order by code
{%- endmacro %}


{# Records whose value is not in the leaf that the relations give it: the hierarchy has changed since. #}
{% macro _search_uncovered(relations, quasi_identifier) -%}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name, "frequencies") -%}
with

leaves as (

    select
        {{ dbt_anonymize._search_leaf(quasi_identifier.kind) }} as leaf,
        {%- if quasi_identifier.kind == "interval" %}
        min(upper_bound) as upper_bound,
        {%- endif %}
        count(*) as copies
    from {{ quasi_identifier.hierarchy }}
    group by {{ dbt_anonymize._search_leaf(quasi_identifier.kind) }}

)

select coalesce(sum(records), 0) as records
from (
    {%- for relation in relations %}
    {{- "\n    union all" if not loop.first }}
    select frequencies.records
    from {{ relation }} as frequencies
    left join leaves
        on {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf", "frequencies") }} = leaves.leaf
    where
        {{ raw }} is not null
        and (
            leaves.copies is null
            {%- if quasi_identifier.kind == "interval" %}
            or {{ raw }} < leaves.leaf
            or {{ raw }} >= leaves.upper_bound
            {%- else %}
            or {{ dbt_anonymize._as_text(raw) }} <> leaves.leaf
            {%- endif %}
        )
    {%- endfor %}
) as uncovered
{%- endmacro %}


{# CTE: the leaves of a hierarchy with their codes, in the order of `_search_hierarchy`. #}
{% macro _search_leaves(name, quasi_identifier) -%}
{{ name }} as (

    select
        {{ dbt_anonymize._search_leaf(quasi_identifier.kind) }} as found,
        dense_rank() over (order by {{ dbt_anonymize._search_leaf(quasi_identifier.kind) }}) - 1 as code
    from {{ quasi_identifier.hierarchy }}
    group by {{ dbt_anonymize._search_leaf(quasi_identifier.kind) }}

)
{%- endmacro %}


{# CTE: the raw values that occur with their codes, in the order of their type. #}
{% macro _search_raw_values(name, relations, quasi_identifier) -%}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name) -%}
{{ name }} as (

    select
        found,
        min(leaf) as leaf,
        dense_rank() over (order by found) - 1 as code
    from (
        {%- for relation in relations %}
        {{- "\n        union all" if not loop.first }}
        select
            {{ raw }} as found,
            min({{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }}) as leaf
        from {{ relation }}
        where {{ raw }} is not null
        group by {{ raw }}
        {%- endfor %}
    ) as found_values
    group by found

)
{%- endmacro %}


{# CTE: the values of a kept column that occur with their codes, in the order of their type. #}
{% macro _search_kept_values(name, frequencies, column) -%}
{{ name }} as (

    select
        {{ dbt_anonymize._quote(column) }} as found,
        dense_rank() over (order by {{ dbt_anonymize._quote(column) }}) - 1 as code
    from {{ frequencies }}
    where {{ dbt_anonymize._quote(column) }} is not null
    group by {{ dbt_anonymize._quote(column) }}

)
{%- endmacro %}
