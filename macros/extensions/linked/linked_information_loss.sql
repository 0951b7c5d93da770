{#
  Body of the loss of each effort by which efforts of linked tables are chosen where no model is trained: the mean of
  that of the people's own table and that of each linked one.
#}
{% macro linked_information_loss(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["information_loss", "losses"], {}) -%}
{{ config(materialized="table") }}
with

linked as (

    select
        effort,
        sum(loss) as loss,
        count(*) as tables
    from {{ given.losses }}
    group by effort

)

select
    own.effort,
    {#- Nothing is lost in effort 0, which has no linked losses. #}
    {{ dbt_anonymize._rounded("(own.loss + coalesce(linked.loss, 0)) / (1 + coalesce(linked.tables, 0))") }} as loss
from {{ given.information_loss }} as own
left join linked on own.effort = linked.effort
order by own.effort
{%- endmacro %}
