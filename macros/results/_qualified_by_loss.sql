{#
  CTEs that end in `qualified`, with the columns of `_qualified`, where no model is trained: QF is 1 - loss of
  `information_loss`, and what only models tell is NULL.
#}
{% macro _qualified_by_loss(information_loss, privacy, qnf, has_refusals=false) -%}
{%- set double, bigint, boolean = dbt_anonymize._type_double(), dbt.type_bigint(), dbt.type_boolean() -%}
{%- set unknown = [
    ("repetitions", bigint), ("paired_splits", bigint), ("all_splits", bigint), ("qf_low", double), ("qf_high", double),
    ("qf_difference", double), ("qf_difference_low", double), ("qf_difference_high", double),
    ("qf_difference_limit", double), ("zero_rule", double), ("zero_rule_difference", double),
    ("zero_rule_difference_low", double), ("qf_sd", double), ("is_non_inferior", boolean), ("beats_zero_rule", boolean),
] -%}
{{ dbt_anonymize._privacy_with_qnf(privacy, qnf) }}

combined as (

    select
        privacy.effort,
        privacy.k,
        privacy.records,
        privacy.suppressed_records,
        privacy.violating_records,
        privacy.broken_guarantees,
        {%- if has_refusals %}
        privacy.refusal,
        {%- endif %}
        1 - information_loss.loss as qf_mean,
        {%- for name, type in unknown %}
        cast(null as {{ type }}) as {{ name }},
        {%- endfor %}
        privacy.qnf,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as keeps_guarantees
    from privacy
    left join {{ information_loss }} as information_loss on privacy.effort = information_loss.effort

),

qualified as (

    select
        *,
        keeps_guarantees and qf_mean is not null and qnf is not null as qualifies,
        case
            when qf_mean is null then 'its loss is not known'
            when qnf is null then 'QNF has no value'
        end as shortfall
    from combined

),
{%- endmacro %}
