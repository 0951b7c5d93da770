{% macro quality(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "scores", "evaluation",
], {
    "test_share": none, "folds": none, "confidence": 0.95, "margin": 0.0,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- if (given.test_share is none) == (given.folds is none) -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": give either `test_share` or `folds`; got " ~ ("neither" if given.folds is none else "both")
        ~ ". Correct the spec and generate again."
    ) }}
{%- endif -%}
{%- set group = ["target", "model", "fit", "test_on", "measure"] -%}
{#- What a relative measure does not have. -#}
{%- set absolute = [
    "sd", "low", "high", "difference", "difference_low", "difference_high", "difference_limit",
    "zero_rule", "zero_rule_difference", "zero_rule_difference_low", "zero_rule_difference_high",
] -%}
with

{{ dbt_anonymize._paired_scores(given.scores, group) }}

{{ dbt_anonymize._score_intervals(group, given) }}

{{ dbt_anonymize._relative_measures(group) }}

quality as (

    select
        effort,
        {{ group | join(",\n        ") }},
        measure as compared_measure,
        splits,
        paired_splits,
        zero_rule_splits,
        mean,
        {{ absolute | join(",\n        ") }},
        {{ dbt_anonymize._without_noise("direction * difference_limit") }}
        >= -cast({{ given.margin }} as {{ dbt_anonymize._type_double() }}) as is_non_inferior,
        beats_zero_rule
    from intervals
    union all
    select
        effort,
        {{ group | join(",\n        ") }},
        compared_measure,
        splits,
        paired_splits,
        0 as zero_rule_splits,
        {{ dbt_anonymize._without_noise("mean") }} as mean,
        {%- for column in absolute %}
        cast(null as {{ dbt_anonymize._type_double() }}) as {{ column }},
        {%- endfor %}
        cast(null as {{ dbt.type_boolean() }}) as is_non_inferior,
        cast(null as {{ dbt.type_boolean() }}) as beats_zero_rule
    from relative_measures

)

select
    quality.effort,
    {{ dbt_anonymize._columns_of("quality", group + ["splits", "paired_splits"]) | join(",\n    ") }},
    coalesce(possible_splits.all_splits, 0) as all_splits,
    {{ dbt_anonymize._columns_of("quality", ["mean"] + absolute) | join(",\n    ") }},
    {#- A difference over fewer splits than there could be is one over chosen ones. #}
    case when quality.paired_splits = possible_splits.all_splits then quality.is_non_inferior end as is_non_inferior,
    case when quality.zero_rule_splits = possible_splits.all_splits then quality.beats_zero_rule end as beats_zero_rule
from quality
left join possible_splits
    on
        {{ dbt_anonymize._equal_columns("quality", "possible_splits", group[:-1]) | join("\n        and ") }}
        and quality.compared_measure = possible_splits.measure
order by
    {{ dbt_anonymize._columns_of("quality", group + ["effort"]) | join(",\n    ") }}
{%- endmacro %}


{#
  CTEs `possible_splits`, how many splits have a score of any effort, and `paired`: the scores, each with those of the
  untouched table and of the model that ignores the features (the zero rule) in the same split.
#}
{% macro _paired_scores(scores, group) -%}
{%- set but_model = group | reject("equalto", "model") | list -%}
scores as (

    select
        effort,
        {{ group | join(",\n        ") }},
        repetition,
        {#- Never NULL, so that splits can be joined. #}
        coalesce(fold, 0) as fold,
        value
    from {{ scores }}
    where class is null and measure is not null

),

splits as (

    select distinct
        {{ group | join(",\n        ") }},
        repetition,
        fold
    from scores
    where value is not null

),

possible_splits as (

    select
        {{ group | join(",\n        ") }},
        count(*) as all_splits
    from splits
    group by
        {{ group | join(",\n        ") }}

),

paired as (

    select
        scores.effort,
        {{ dbt_anonymize._columns_of("scores", group) | join(",\n        ") }},
        scores.value,
        scores.value - baseline.value as difference,
        case when scores.value is not null then zero.value end as zero_rule,
        scores.value - zero.value as zero_rule_difference
    from scores
    left join scores as baseline
        on
            {{ dbt_anonymize._equal_columns("scores", "baseline", group + ["repetition", "fold"])
                | join("\n            and ") }}
            and baseline.effort = 0
    left join scores as zero
        on
            {{ dbt_anonymize._equal_columns("scores", "zero", but_model + ["repetition", "fold"])
                | join("\n            and ") }}
            and zero.effort = 0
            and zero.model = 'zero_rule'

),
{%- endmacro %}


{# CTEs that end in `intervals`: means over splits with their confidence limits. #}
{% macro _score_intervals(group, given) -%}
{%- set design = [given.test_share, given.folds, given.confidence, given.evaluation] -%}
{#- What has an interval: columns, and over which splits. -#}
{%- set counted = [
    ("value", "splits"), ("difference", "paired_splits"), ("zero_rule_difference", "zero_rule_splits"),
] -%}
summed as (

    select
        effort,
        {{ group | join(",\n        ") }},
        {%- for column, splits in counted %}
        count({{ column }}) as {{ splits }},
        avg({{ column }}) as {{ column }},
        stddev_samp({{ column }}) as {{ column }}_sd,
        {%- endfor %}
        avg(zero_rule) as zero_rule
    from paired
    group by
        effort,
        {{ group | join(",\n        ") }}

),

rounded as (

    select
        effort,
        {{ group | join(",\n        ") }},
        {%- for column, splits in counted %}
        {{ splits }},
        {{ dbt_anonymize._without_noise(column) }} as {{ column }},
        {{ dbt_anonymize._without_noise(column ~ "_sd") }} as {{ column }}_sd,
        {%- endfor %}
        {{ dbt_anonymize._without_noise("zero_rule") }} as zero_rule
    from summed

),

errors as (

    select
        *,
        {%- for column, splits in counted %}
        {{ dbt_anonymize._half_interval(column ~ "_sd", "rounded." ~ splits, *design)
            | indent(8) }} as {{ column }}_half,
        {%- endfor %}
        {{ dbt_anonymize._half_interval("difference_sd", "rounded.paired_splits", *design, two_sided=false)
            | indent(8) }} as one_sided,
        case
            when measure in ({{ dbt_anonymize._literals(dbt_anonymize._lower_is_better()) }}) then -1
            else 1
        end as direction,
        {{ dbt_anonymize._end_of_range("lowest") | indent(8) }} as lowest,
        {{ dbt_anonymize._end_of_range("highest") | indent(8) }} as highest,
        {{ dbt_anonymize._end_of_range("width") | indent(8) }} as width
    from rounded

),

{#- No limit is beyond what the measure, or the difference of two values of it, can be. #}

intervals as (

    select
        effort,
        {{ group | join(",\n        ") }},
        splits,
        paired_splits,
        zero_rule_splits,
        value as mean,
        value_sd as sd,
        {{ dbt_anonymize._clipped("value - value_half", "lowest", "highest") | indent(8) }} as low,
        {{ dbt_anonymize._clipped("value + value_half", "lowest", "highest") | indent(8) }} as high,
        {%- for column in ["difference", "zero_rule_difference"] %}
        {{ column }},
        {%- for limit, sign in [("low", "-"), ("high", "+")] %}
        {%- set number = column ~ " " ~ sign ~ " " ~ column ~ "_half" %}
        {{ dbt_anonymize._clipped(number, "-width", "width") | indent(8) }} as {{ column }}_{{ limit }},
        {%- endfor %}
        {%- endfor %}
        {#- How much worse the effort may be: the lower limit where higher is better, else the upper one. #}
        {{ dbt_anonymize._clipped("difference - direction * one_sided", "-width", "width")
            | indent(8) }} as difference_limit,
        zero_rule,
        {#- Too few splits for an interval: their mean must do. #}
        {{ dbt_anonymize._without_noise("direction * zero_rule_difference - coalesce(zero_rule_difference_half, 0)") }}
        > 0 as beats_zero_rule,
        direction
    from errors

),
{%- endmacro %}


{# CTE `relative_measures`: means without spread, compared with the untouched table. #}
{% macro _relative_measures(group) -%}
{%- set but_model = group | reject("equalto", "model") | list -%}
relative_measures as (

    select
        efforts.effort,
        efforts.target,
        efforts.model,
        efforts.fit,
        efforts.test_on,
        case when efforts.measure = 'roc_auc' then 'relative_auc' else 'brier_skill_score' end as measure,
        efforts.splits,
        efforts.paired_splits,
        case
            when efforts.measure = 'roc_auc'
                then (efforts.mean - zero.mean) / nullif(baseline.mean - zero.mean, 0)
            else 1 - efforts.mean / nullif(baseline.mean, 0)
        end as mean,
        efforts.measure as compared_measure
    from intervals as efforts
    left join intervals as baseline
        on
            {{ dbt_anonymize._equal_columns("efforts", "baseline", group) | join("\n            and ") }}
            and baseline.effort = 0
    left join intervals as zero
        on
            {{ dbt_anonymize._equal_columns("efforts", "zero", but_model) | join("\n            and ") }}
            and zero.effort = 0
            and zero.model = 'zero_rule'
    where efforts.measure in ('roc_auc', 'brier_score')

),
{%- endmacro %}
