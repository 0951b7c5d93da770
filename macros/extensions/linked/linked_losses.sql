{# Body of the linked records that each effort hides and leaves out, a row per effort and table. #}
{% macro linked_losses(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["tables", "decisions"], {}) -%}
{{ config(materialized="table") }}
{%- set bigint = dbt.type_bigint() -%}
with

counted as (
    {%- for effort, decisions in given.decisions.items() %}
    {%- set is_last = loop.last %}
    {%- for name, table in given.tables.items() %}

    select
        {{ effort }} as effort,
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(name)) }} as linked_table,
        (select count(*) from {{ table.relation }}) as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        {{ dbt_anonymize._number(table.largest_share) }} as largest_share
    from {{ decisions }}
    where linked_table = {{ dbt_anonymize._literal(name) }}
    {{- "\n    union all" if not (is_last and loop.last) }}
    {%- endfor %}
    {%- endfor %}

)

select
    effort,
    linked_table,
    cast(records as {{ bigint }}) as records,
    cast(hidden_records as {{ bigint }}) as hidden_records,
    cast(records - released_records as {{ bigint }}) as left_out_records,
    case
        when records > 0
            then
                cast(records - released_records + hidden_records as {{ dbt_anonymize._type_double() }})
                / cast(records as {{ dbt_anonymize._type_double() }})
        else cast(0 as {{ dbt_anonymize._type_double() }})
    end as lost_share,
    cast(largest_share as {{ dbt_anonymize._type_double() }}) as largest_share
from counted
order by
    effort,
    linked_table
{%- endmacro %}
