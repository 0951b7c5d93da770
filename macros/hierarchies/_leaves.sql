{#
  CTE with the leaf of each value of a quasi-identifier: the lower bound of its interval, or the value itself as text.
  Each value is looked up once, and records find it by equality: a join of all records on bounds sorts them all.
#}
{% macro _leaves(rows, quasi_identifier, number) -%}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name) -%}
{%- if quasi_identifier.kind == "interval" -%}
values_{{ number }} as (

    select distinct {{ raw }} as found
    from {{ rows }}
    where {{ raw }} is not null

),

leaves_{{ number }} as (

    select
        values_{{ number }}.found,
        hierarchy.lower_bound as leaf
    from values_{{ number }}
    inner join {{ quasi_identifier.hierarchy }} as hierarchy
        on
            values_{{ number }}.found >= hierarchy.lower_bound
            and values_{{ number }}.found < hierarchy.upper_bound

)
{%- else -%}
leaves_{{ number }} as (

    select {{ dbt_anonymize._as_text("value") }} as leaf
    from {{ quasi_identifier.hierarchy }}

)
{%- endif -%}
{%- endmacro %}


{# The join that gives rows the leaf of one quasi-identifier. #}
{% macro _join_leaves(rows, quasi_identifier, number) -%}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name, rows) -%}
left join leaves_{{ number }}
    {%- if quasi_identifier.kind == "interval" %}
    on {{ raw }} = leaves_{{ number }}.found
    {%- else %}
    on {{ dbt_anonymize._as_text(raw) }} = leaves_{{ number }}.leaf
    {%- endif %}
{%- endmacro %}
