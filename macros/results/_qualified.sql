{#
  CTEs that end in `qualified`: privacy and quality of each effort, by what decides (`deciding`: a value for each column
  of the quality), with `keeps_guarantees`, `is_complete`, `qualifies` and `shortfall`. QF is larger where the model is
  better. With `has_refusals`, privacy has a `refusal`, why an effort may not be released.
#}
{% macro _qualified(quality, privacy, deciding, qnf, has_refusals=false) -%}
{%- set is_negated = deciding.measure in dbt_anonymize._lower_is_better() -%}
{%- set low, high = ("high", "low") if is_negated else ("low", "high") -%}
{%- set figures = [
    ("mean", "qf_mean"),
    (low, "qf_low"),
    (high, "qf_high"),
    ("difference", "qf_difference"),
    ("difference_" ~ low, "qf_difference_low"),
    ("difference_" ~ high, "qf_difference_high"),
    ("difference_limit", "qf_difference_limit"),
    ("zero_rule", "zero_rule"),
    ("zero_rule_difference", "zero_rule_difference"),
    ("zero_rule_difference_" ~ low, "zero_rule_difference_low"),
] -%}
quality as (

    select
        effort,
        splits,
        paired_splits,
        all_splits,
        {%- for column, name in figures %}
        {{ "0 - " if is_negated }}{{ column }}{{ " as " ~ name if is_negated or column != name }},
        {%- endfor %}
        sd as qf_sd,
        is_non_inferior,
        beats_zero_rule
    from {{ quality }}
    where
        {{ dbt_anonymize._decides(deciding) }}

),

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
        coalesce(quality.splits, 0) as repetitions,
        coalesce(quality.paired_splits, 0) as paired_splits,
        {#- No effort but this one may have been evaluated. #}
        coalesce(quality.all_splits, max(quality.all_splits) over (), 0) as all_splits,
        {%- for column, name in figures %}
        quality.{{ name }},
        {%- endfor %}
        quality.qf_sd,
        quality.is_non_inferior,
        quality.beats_zero_rule,
        privacy.qnf,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as keeps_guarantees
    from privacy
    left join quality on privacy.effort = quality.effort

),

{#- A mean over fewer splits than there could be is a mean over chosen ones. #}

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
        {{ dbt_anonymize._shortfall(deciding.measure) | indent(8) }} as shortfall
    from complete

),
{%- endmacro %}


{# The condition of the rows that decide. #}
{% macro _decides(deciding) -%}
    {%- set conditions = [] -%}
    {%- for column, value in deciding.items() -%}
        {%- do conditions.append(column ~ " = " ~ dbt_anonymize._literal(value)) -%}
    {%- endfor -%}
    {{ return(conditions | join("\n        and ")) }}
{%- endmacro %}


{# CTE `split_scores`: QF of each effort in each split with a score. #}
{% macro _split_scores(scores, deciding) -%}
split_scores as (

    select
        effort,
        repetition,
        coalesce(fold, 0) as fold,
        {{ "0 - " if deciding.measure in dbt_anonymize._lower_is_better() }}value as qf
    from {{ scores }}
    where
        {{ dbt_anonymize._decides(deciding) }}
        and class is null
        and value is not null

),
{%- endmacro %}


{# CTEs that end in `scored`: the qualified efforts and the others with alpha, Q and their place on the frontier. #}
{% macro _scored(alpha) -%}
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
        cast({{ alpha }} as {{ dbt_anonymize._type_double() }}) as alpha,
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
{%- endmacro %}


{# CTE `privacy`, with `qnf`. #}
{% macro _privacy_with_qnf(privacy, qnf) -%}
{%- set known = [] -%}
{%- for column in qnf.columns -%}{%- do known.append("qnf_" ~ loop.index ~ " is not null") -%}{%- endfor -%}
privacy as (

    select
        *,
        case when {{ known | join(" and ") }} then {{ qnf.sql }} end as qnf
    from (
        select
            *,
            {%- for column in qnf.columns %}
            cast({{ dbt_anonymize._quote(column) }} as {{ dbt_anonymize._type_double() }}) as qnf_{{ loop.index }}
            {{- "," if not loop.last }}
            {%- endfor %}
        from {{ privacy }}
    ) as measured

),
{%- endmacro %}
