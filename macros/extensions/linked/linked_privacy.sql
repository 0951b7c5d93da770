{# Body of the privacy of each effort, with the reason why linked records keep it from being released. #}
{% macro linked_privacy(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["privacy", "columns", "losses"], {}) -%}
{{ config(materialized="table") }}
{%- set share = "cast(cast(100 * lost_share as decimal(4, 1)) as " ~ dbt.type_string() ~ ")" -%}
{%- set largest = "cast(cast(100 * largest_share as decimal(4, 1)) as " ~ dbt.type_string() ~ ")" -%}
with

exceeded as (

    select
        effort,
        string_agg(
            {{ share }} || ' % of ' || linked_table || ' would be hidden or left out, and at most '
            || {{ largest }} || ' % may be',
            ', ' order by linked_table
        ) as refusal
    from {{ given.losses }}
    where lost_share > largest_share
    group by effort

)

select
    {%- for column in given.columns %}
    {{ "privacy.meets_guarantees and exceeded.refusal is null as " if column == "meets_guarantees" }}
    {{- dbt_anonymize._quote(column, "privacy" if column != "meets_guarantees" else none) }},
    {%- endfor %}
    exceeded.refusal
from {{ given.privacy }} as privacy
left join exceeded on privacy.effort = exceeded.effort
order by privacy.effort
{%- endmacro %}
