{# Select with one row per effort and its `ambiguity`. #}
{% macro ambiguity(covered_tuples) -%}
select
    effort,
    sum(records * case when is_suppressed then domain else covered end) as ambiguity
from {{ covered_tuples }}
group by effort
{%- endmacro %}
