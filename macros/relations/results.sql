{% macro results(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "quality", "scores", "privacy", "target", "model", "measure", "fit", "test_on", "alpha", "qnf", "choose",
    "fingerprint", "random_state",
], {
    "test_share": none, "folds": none, "confidence": 0.95, "release_effort": "auto", "evaluation": none,
    "levels_in_words": none, "information_loss": none, "has_refusals": false,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- do dbt_anonymize._check_rule(given.qnf, given.choose) -%}
{%- set deciding = {
    "target": given.target, "model": given.model, "fit": given.fit, "test_on": given.test_on, "measure": given.measure,
} -%}
{#- Without splits nothing is drawn again. The other rules do not choose by Q, so how often it would be the highest says
    nothing about them. -#}
{%- set is_free = given.release_effort == "auto" and not given.information_loss -%}
{%- set chooses_by_q = is_free and given.choose in ["max_q", "pareto_knee"] -%}
{%- set certainty = [
    "choice_share", "runner_up", "q_difference_to_runner_up", "q_difference_to_runner_up_low",
    "q_difference_to_runner_up_high",
] -%}
with

{{ dbt_anonymize._qualified_by_loss(given.information_loss, given.privacy, given.qnf, given.has_refusals)
    if given.information_loss
    else dbt_anonymize._qualified(given.quality, given.privacy, deciding, given.qnf, given.has_refusals) }}

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

{{ dbt_anonymize._scored(given.alpha) }}

{{ dbt_anonymize._choice(given.choose, given.release_effort, given.alpha) }}

{% if chooses_by_q -%}
{{ dbt_anonymize._split_scores(given.scores, deciding) }}

{#- The knee is the effort with the highest Q at the alpha of the chord. #}

{{ dbt_anonymize._choice_share("auto" if given.choose == "pareto_knee" else given.alpha, given.random_state) }}

{{ dbt_anonymize._runner_up(given.measure, given.test_share, given.folds, given.confidence, given.evaluation) }}

{% endif -%}
{% if given.evaluation -%}
{{ dbt_anonymize._coarser_features(given.evaluation) }}

{% endif -%}
{{ dbt_anonymize._reasoned(given, certainty, chooses_by_q) }}

select
    effort,
    {{ dbt_anonymize._levels_in_words(given.levels_in_words) | indent(4) }} as levels_in_words,
    k,
    records,
    suppressed_records,
    violating_records,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(given.target) if given.target else "null") }} as target,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(given.measure)) }} as measure,
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
    {{ certainty | join(",\n    ") }},
    coarser_features,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(given.choose)) }} as choose,
    {{ dbt_anonymize._reason(given.choose, given.measure, given.release_effort, given.has_refusals) | indent(4) }}
    {{- " || '; no model tested it'" if given.information_loss }} as reason,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(given.fingerprint)) }} as fingerprint
from reasoned
order by effort
{%- endmacro %}


{# CTE `reasoned`: the choice, how sure it is, and of which features models see coarser values. #}
{% macro _reasoned(given, certainty, chooses_by_q) -%}
reasoned as (

    select
        chosen.*,
        {{ "coarser." if given.evaluation else dbt_anonymize._as_text("null") ~ " as " }}coarser_features,
        {%- for column in certainty %}
        {%- if chooses_by_q %}
        {%- set value = "runner_up." %}
        {%- if column == "choice_share" -%}
            {%- set value = "case when not chosen.is_undetermined then shares.choice_share end as " -%}
        {%- endif %}
        {{ value ~ column }}{{ "," if not loop.last }}
        {%- else %}
        {%- set type = dbt.type_int() if column == "runner_up" else dbt_anonymize._type_double() %}
        cast(null as {{ type }}) as {{ column }}{{ "," if not loop.last }}
        {%- endif %}
        {%- endfor %}
    from chosen
    {%- if given.evaluation %}
    left join coarser on chosen.effort = coarser.effort
    {%- endif %}
    {%- if chooses_by_q %}
    left join shares on chosen.effort = shares.effort
    left join runner_up on chosen.is_chosen and chosen.effort = runner_up.chosen_effort
    {%- endif %}

)
{%- endmacro %}


{# SQL of the levels of each effort in words, which are given by its number; NULL without any. #}
{% macro _levels_in_words(levels_in_words) -%}
{%- if not levels_in_words -%}
{{ dbt_anonymize._as_text("null") }}
{%- else -%}
case effort
{%- for number, words in levels_in_words.items() %}
    when {{ number }} then {{ dbt_anonymize._literal(words) }}
{%- endfor %}
end
{%- endif -%}
{%- endmacro %}


{% macro _check_rule(qnf, choose) -%}
    {%- set errors = [] -%}
    {%- if qnf is not mapping or not qnf.sql or not qnf.columns -%}
        {%- do errors.append("`qnf` must be a mapping with `sql` and `columns`; got: " ~ qnf) -%}
    {%- endif -%}
    {%- if choose not in ["max_q", "strongest_non_inferior", "pareto_knee"] -%}
        {%- do errors.append("`choose` must be max_q, strongest_non_inferior or pareto_knee; got: " ~ choose) -%}
    {%- endif -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            this.identifier ~ ": " ~ errors | join("; ") ~ ". Correct the spec and generate again."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# CTE `coarser`: the categories of each effort that have more labels than a model reads, and the level that it
   reads. #}
{% macro _coarser_features(evaluation) -%}
{%- set level = dbt_anonymize._as_text("cast(value as " ~ dbt.type_int() ~ ")") -%}
{%- set features = adapter.dispatch("_listed_features", "dbt_anonymize")(level) -%}
coarser as (

    select
        effort,
        {{ dbt_anonymize._on_one_line(features) }} as coarser_features
    from {{ evaluation }}
    where kind = 'reading'
    group by effort

),
{%- endmacro %}


{% macro default___listed_features(level) -%}
    {{ return(dbt.listagg("name || ' at level ' || " ~ level, "', '", "order by name, value")) }}
{%- endmacro %}
