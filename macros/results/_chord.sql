{#
  The select list of the chord from the best quality to the strongest privacy of `lines` (`qf_mean`, `qnf`): the alpha
  at which both have the same Q, and where it begins. One row for each value of `by`, or one for all.
#}
{% macro _chord(lines, by=none) -%}
{%- set part = "partition by " ~ by if by else "" -%}
{%- set last_qf = "max(case when qnf = best_qnf then qf_mean end)" -%}
{%- set first_qnf = "max(case when qf_mean = best_qf then qnf end)" -%}
select
    {{- "\n    " ~ by ~ "," if by }}
    max(qf_mean) as first_qf,
    {{ first_qnf }} as first_qnf,
    coalesce((max(qf_mean) - {{ last_qf }}) / nullif(max(qnf) - {{ first_qnf }}, 0), 0) as chord_alpha
from (
    select
        *,
        max(qf_mean) over ({{ part }}) as best_qf,
        max(qnf) over ({{ part }}) as best_qnf
    from {{ lines }}
) as ended
{{- "\ngroup by " ~ by if by }}
{%- endmacro %}
