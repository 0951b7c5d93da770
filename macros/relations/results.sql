{% macro results(
    quality, scores, privacy, target, model, measure, fit, test_on, alpha, qnf, choose, fingerprint, random_state, test_share=none, folds=none,
    confidence=0.95, release_effort="auto", evaluation=none
) -%}
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
    {{ exceptions.raise_compiler_error(this.identifier ~ ": " ~ errors | join("; ") ~ ". Correct the spec and generate"
    ~ " again.") }}
{%- endif -%}
{%- set is_negated = measure in dbt_anonymize._lower_is_better() -%}
{%- set sign = "0 - " if is_negated else "" -%}
{%- set low, high = ("high", "low") if is_negated else ("low", "high") -%}
{#- The knee is the effort with the highest Q at the alpha of the chord. -#}
{%- set weight = "auto" if choose == "pareto_knee" else alpha -%}
{#- The other rules do not choose by Q, so how often it would be the highest says nothing about them. -#}
{%- set chooses_by_q = release_effort == "auto" and choose in ["max_q", "pareto_knee"] -%}
{%- set how_sure = [
    "choice_share", "runner_up", "q_difference_to_runner_up", "q_difference_to_runner_up_low", "q_difference_to_runner_up_high",
] -%}
{%- set decides -%}
        target = {{ dbt_anonymize._literal(target) }}
        and model = {{ dbt_anonymize._literal(model) }}
        and fit = {{ dbt_anonymize._literal(fit) }}
        and test_on = {{ dbt_anonymize._literal(test_on) }}
        and measure = {{ dbt_anonymize._literal(measure) }}
{%- endset -%}
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
        is_non_inferior,
        {%- for column, name in [
            ("zero_rule", "zero_rule"), ("zero_rule_difference", "zero_rule_difference"),
            ("zero_rule_difference_" ~ low, "zero_rule_difference_low"),
        ] %}
        {{ sign ~ column ~ " as " ~ name if is_negated else name }},
        {%- endfor %}
        beats_zero_rule
    from {{ quality }}
    where
        {{ decides }}

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
        quality.zero_rule,
        quality.zero_rule_difference,
        quality.zero_rule_difference_low,
        quality.beats_zero_rule,
        {%- if qnf == "k" %}
        cast(privacy.k as {{ double }}) as qnf,
        {%- else %}
        1 - cast(1.0 as {{ double }}) / privacy.k as qnf,
        {%- endif %}
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as keeps_guarantees
    from privacy
    left join quality on privacy.effort = quality.effort

),

{# A mean over fewer splits than there could be is a mean over chosen ones. #}
complete as (

    select
        *,
        repetitions = all_splits and qf_mean is not null as is_complete
    from combined

),

qualified as (

    select
        *,
        keeps_guarantees and is_complete and qnf is not null and coalesce(beats_zero_rule, false) as qualifies,
        {{ dbt_anonymize._shortfall(measure) | indent(8) }} as shortfall
    from complete

),

candidates as (

    select
        effort,
        k,
        qf_mean,
        qnf
    from qualified
    where qualifies

),

{{ dbt_anonymize._alpha_envelope("candidates") }}

chord as (

    {{ dbt_anonymize._chord("candidates") | indent(4) }}

),

weighed as (

    select
        qualified.*,
        alpha_ranges.effort is not null as is_on_frontier,
        alpha_ranges.alpha_from,
        alpha_ranges.alpha_to,
        count(alpha_ranges.effort) over () as vertices,
        {%- if alpha == "auto" %}
        chord.chord_alpha as alpha,
        {%- else %}
        cast({{ alpha }} as {{ double }}) as alpha,
        {%- endif %}
        (qualified.qf_mean - chord.first_qf) + chord.chord_alpha * (qualified.qnf - chord.first_qnf) as above_chord
    from qualified
    cross join chord
    left join alpha_ranges on qualified.effort = alpha_ranges.effort

),

scored as (

    select
        *,
        qf_mean + alpha * qnf as q
    from weighed

),
{{- dbt_anonymize._choice(choose, release_effort) }}
{%- if chooses_by_q %}

split_scores as (

    select
        effort,
        repetition,
        coalesce(fold, 0) as fold,
        {{ sign }}value as qf
    from {{ scores }}
    where
        {{ decides }}
        and class is null
        and value is not null

),

{{ dbt_anonymize._choice_share(weight, random_state) }}

{{ dbt_anonymize._runner_up(measure, test_share, folds, confidence) }}
{%- endif %}

{%- if evaluation %}

{# Categories with more labels than a model reads. #}
{%- set coarser = dbt.listagg(
    "name || ' at level ' || cast(cast(value as " ~ dbt.type_int() ~ ") as " ~ dbt.type_string() ~ ")", "', '", "order by name, value"
) -%}
coarser as (

    select
        effort,
        {{ coarser.split() | join(" ") | replace("( ", "(") | replace(" )", ")") }} as coarser_features
    from {{ evaluation }}
    where kind = 'reading'
    group by effort

),
{%- endif %}

reasoned as (

    select
        chosen.*,
        {{ "coarser.coarser_features" if evaluation else "cast(null as " ~ dbt.type_string() ~ ") as"
        ~ " coarser_features" }},
        {%- for column in how_sure %}
        {%- if chooses_by_q %}
        {{ "shares" if column == "choice_share" else "runner_up" }}.{{ column }}{{ "," if not loop.last }}
        {%- else %}
        cast(null as {{ dbt.type_int() if column == "runner_up" else double }}) as {{ column }}{{ "," if not loop.last }}
        {%- endif %}
        {%- endfor %}
    from chosen
    {%- if evaluation %}
    left join coarser on chosen.effort = coarser.effort
    {%- endif %}
    {%- if chooses_by_q %}
    left join shares on chosen.effort = shares.effort
    left join runner_up on chosen.is_chosen and chosen.effort = runner_up.chosen_effort
    {%- endif %}

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
    zero_rule,
    beats_zero_rule,
    qnf,
    alpha,
    q,
    is_on_frontier,
    alpha_from,
    alpha_to,
    qualifies,
    is_chosen,
    {{ how_sure | join(",\n    ") }},
    coarser_features,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(choose)) }} as choose,
    {{ dbt_anonymize._reason(choose, measure, release_effort) | indent(4) }} as reason,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(fingerprint)) }} as fingerprint
from reasoned
order by effort
{%- endmacro %}
