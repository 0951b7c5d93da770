{% macro alpha_ranges(results) -%}
{{ config(materialized="table") }}
select
    alpha_from,
    alpha_to,
    effort,
    {#- Below the first break point quality alone decides and above the last one privacy alone;
        between them, and where one effort is best for every alpha, both count. #}
    (alpha_from > 0 and alpha_to is not null) or (alpha_from = 0 and alpha_to is null) as is_usable
from {{ results }}
where alpha_from is not null
order by alpha_from
{%- endmacro %}
