{% macro results(quality, privacy, target, model, measure, fit, test_on, alpha, qnf, choose, fingerprint, release_effort="auto") -%}
{{ config(materialized="table") }}
{%- set double = dbt_anonymize._type_double() -%}
{%- set errors = [] -%}
{%- if qnf not in ["k", "1 - 1/k"] -%}
    {%- do errors.append("`qnf` must be 'k' or '1 - 1/k'; got: " ~ qnf) -%}
{%- endif -%}
{%- if choose not in ["max_q", "strongest_non_inferior", "pareto_knee"] -%}
    {%- do errors.append("`choose` must be max_q, strongest_non_inferior or pareto_knee; got: " ~ choose) -%}
{%- endif -%}
{%- if errors -%}
    {{ exceptions.raise_compiler_error(this.identifier ~ ": " ~ errors | join("; ") ~ ". Correct the spec and generate again.") }}
{%- endif -%}
{%- set is_negated = measure in dbt_anonymize._lower_is_better() -%}
{%- set sign = "0 - " if is_negated else "" -%}
{%- set low, high = ("high", "low") if is_negated else ("low", "high") -%}
with

{# QF is larger where the model is better. #}
quality as (

    select
        effort,
        splits,
        paired_splits,
        all_splits,
        {{ sign }}mean as qf_mean,
        sd as qf_sd,
        {{ sign }}{{ low }} as qf_low,
        {{ sign }}{{ high }} as qf_high,
        {{ sign }}difference as qf_difference,
        {{ sign }}difference_{{ low }} as qf_difference_low,
        {{ sign }}difference_{{ high }} as qf_difference_high,
        {{ sign }}difference_limit as qf_difference_limit,
        is_non_inferior
    from {{ quality }}
    where
        target = {{ dbt_anonymize._literal(target) }}
        and model = {{ dbt_anonymize._literal(model) }}
        and fit = {{ dbt_anonymize._literal(fit) }}
        and test_on = {{ dbt_anonymize._literal(test_on) }}
        and measure = {{ dbt_anonymize._literal(measure) }}

),

{# What a model reaches that ignores the features; NULL where that is the model itself or has no score. #}
zero_rule as (

    select max({{ sign }}mean) as zero_qf
    from {{ quality }}
    where
        effort = 0
        and target = {{ dbt_anonymize._literal(target) }}
        and model = 'zero_rule'
        and model <> {{ dbt_anonymize._literal(model) }}
        and fit = {{ dbt_anonymize._literal(fit) }}
        and test_on = {{ dbt_anonymize._literal(test_on) }}
        and measure = {{ dbt_anonymize._literal(measure) }}

),

privacy as (

    select * from {{ privacy }}

),

combined as (

    select
        privacy.effort,
        privacy.k,
        privacy.records,
        privacy.suppressed_records,
        privacy.violating_records,
        privacy.broken_guarantees,
        coalesce(quality.splits, 0) as repetitions,
        coalesce(quality.paired_splits, 0) as paired_splits,
        {#- No effort but this one may have been evaluated. #}
        coalesce(quality.all_splits, max(quality.all_splits) over (), 0) as all_splits,
        quality.qf_mean,
        quality.qf_sd,
        quality.qf_low,
        quality.qf_high,
        quality.qf_difference,
        quality.qf_difference_low,
        quality.qf_difference_high,
        quality.qf_difference_limit,
        quality.is_non_inferior,
        zero_rule.zero_qf,
        coalesce(quality.qf_mean > zero_rule.zero_qf, true) as is_useful,
        {%- if qnf == "k" %}
        cast(privacy.k as {{ double }}) as qnf,
        {%- else %}
        1 - cast(1.0 as {{ double }}) / privacy.k as qnf,
        {%- endif %}
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as qualifies
    from privacy
    cross join zero_rule
    left join quality on privacy.effort = quality.effort

),

{# A mean over fewer splits than there could be is a mean over chosen ones. #}
complete as (

    select
        *,
        coalesce(qualifies and repetitions = all_splits and qf_mean is not null and qnf is not null, false) as is_candidate
    from combined

),

candidates as (

    select
        effort,
        qf_mean,
        qnf,
        is_useful
    from complete
    where is_candidate

),

{{ dbt_anonymize._alpha_envelope("candidates") }}

{#
  The chord between the ends of the frontier: the alpha at which best quality and strongest privacy have the same Q. An end
  that teaches a model nothing would make the chord end at any k.
#}
frontier as (

    select
        count(*) as vertices,
        max(candidates.qf_mean) as first_qf,
        min(candidates.qnf) as first_qnf,
        coalesce(
            (max(candidates.qf_mean) - min(candidates.qf_mean)) / nullif(max(candidates.qnf) - min(candidates.qnf), 0), 0
        ) as chord_alpha
    from alpha_ranges
    inner join candidates on alpha_ranges.effort = candidates.effort
    where candidates.is_useful

),

weighed as (

    select
        complete.*,
        alpha_ranges.effort is not null as is_on_frontier,
        alpha_ranges.alpha_from,
        alpha_ranges.alpha_to,
        frontier.vertices,
        {%- if alpha == "auto" %}
        frontier.chord_alpha as alpha,
        {%- else %}
        cast({{ alpha }} as {{ double }}) as alpha,
        {%- endif %}
        (complete.qf_mean - frontier.first_qf) + frontier.chord_alpha * (complete.qnf - frontier.first_qnf) as above_chord
    from complete
    cross join frontier
    left join alpha_ranges on complete.effort = alpha_ranges.effort

),

scored as (

    select
        *,
        qf_mean + alpha * qnf as q
    from weighed

),
{{- dbt_anonymize._choice(choose, alpha, release_effort) }}

reasoned as (

    select
        *,
        {{ dbt_anonymize._reason(choose, alpha, measure, release_effort) | indent(8) }} as reason
    from chosen

)

select
    effort,
    k,
    records,
    suppressed_records,
    violating_records,
    repetitions,
    qf_mean,
    qf_sd,
    qf_low,
    qf_high,
    qf_difference,
    qf_difference_low,
    qf_difference_high,
    is_non_inferior,
    qnf,
    alpha,
    q,
    is_on_frontier,
    alpha_from,
    alpha_to,
    qualifies,
    is_chosen,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(choose)) }} as choose,
    reason,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(fingerprint)) }} as fingerprint
from reasoned
order by effort
{%- endmacro %}
