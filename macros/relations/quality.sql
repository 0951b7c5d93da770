{% macro quality(scores, test_share=none, folds=none, confidence=0.95, margin=0.0) -%}
{{ config(materialized="table") }}
{%- set double = dbt_anonymize._type_double() -%}
{%- if (test_share is none) == (folds is none) -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": give either `test_share` or `folds`; got " ~ ("neither" if folds is none else "both") ~ ". Correct the spec and generate again."
    ) }}
{%- endif -%}
{%- set group = ["target", "model", "fit", "test_on", "measure"] -%}
{%- set lower_is_better = [] -%}
{%- for measure in dbt_anonymize._lower_is_better() -%}
    {%- do lower_is_better.append(dbt_anonymize._literal(measure)) -%}
{%- endfor -%}
{#- What has an interval: columns, and over which splits. -#}
{%- set counted = {"value": "splits", "difference": "paired_splits", "zero_rule_difference": "zero_rule_splits"} -%}
with

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

possible_splits as (

    select
        {{ group | join(",\n        ") }},
        count(*) as all_splits
    from (
        select distinct
            {{ group | join(",\n            ") }},
            repetition,
            fold
        from scores
        where value is not null
    ) as splits
    group by
        {{ group | join(",\n        ") }}

),

{# The same splits for every effort make the comparisons with the untouched table and with the model that ignores the
   features paired. #}
paired as (

    select
        scores.effort,
        {%- for column in group %}
        scores.{{ column }},
        {%- endfor %}
        scores.value,
        scores.value - baseline.value as difference,
        case when scores.value is not null then zero.value end as zero_rule,
        scores.value - zero.value as zero_rule_difference
    from scores
    {%- for other in ["baseline", "zero"] %}
    left join scores as {{ other }}
        on
        {%- for column in group if other == "baseline" or column != "model" %}
            {{ "and " if not loop.first }}scores.{{ column }} = {{ other }}.{{ column }}
        {%- endfor %}
            and scores.repetition = {{ other }}.repetition
            and scores.fold = {{ other }}.fold
            and {{ other }}.effort = 0
            {{- "\n            and zero.model = 'zero_rule'" if other == "zero" }}
    {%- endfor %}

),

summed as (

    select
        effort,
        {{ group | join(",\n        ") }},
        {%- for column, splits in counted.items() %}
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
        {%- for column, splits in counted.items() %}
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
        {%- for column, splits in counted.items() %}
        {{ dbt_anonymize._half_interval(column ~ "_sd", splits, test_share, folds, confidence) | indent(8) }} as {{ column }}_half,
        {%- endfor %}
        {{ dbt_anonymize._half_interval("difference_sd", "paired_splits", test_share, folds, confidence, two_sided=false) | indent(8) }} as one_sided,
        case when measure in ({{ lower_is_better | join(", ") }}) then -1 else 1 end as direction,
        {{ dbt_anonymize._end_of_range("lowest") }} as lowest,
        {{ dbt_anonymize._end_of_range("highest") }} as highest,
        {{ dbt_anonymize._end_of_range("width") }} as width
    from rounded

),

{# No limit is beyond what the measure, or the difference of two values of it, can be. #}
intervals as (

    select
        effort,
        {{ group | join(",\n        ") }},
        splits,
        paired_splits,
        zero_rule_splits,
        value as mean,
        value_sd as sd,
        {{ dbt_anonymize._clipped("value - value_half", "lowest", "highest") }} as low,
        {{ dbt_anonymize._clipped("value + value_half", "lowest", "highest") }} as high,
        {%- for column in ["difference", "zero_rule_difference"] %}
        {{ column }},
        {{ dbt_anonymize._clipped(column ~ " - " ~ column ~ "_half", "-width", "width") }} as {{ column }}_low,
        {{ dbt_anonymize._clipped(column ~ " + " ~ column ~ "_half", "-width", "width") }} as {{ column }}_high,
        {%- endfor %}
        {#- How much worse the effort may be: the lower limit where higher is better, else the upper one. #}
        {{ dbt_anonymize._clipped("difference - direction * one_sided", "-width", "width") }} as difference_limit,
        zero_rule,
        {#- Too few splits for an interval: their mean must do. #}
        {{ dbt_anonymize._without_noise("direction * zero_rule_difference - coalesce(zero_rule_difference_half, 0)") }} > 0 as beats_zero_rule,
        direction
    from errors

),

{# Means without spread, compared with the untouched table. #}
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
        {%- for column in group %}
            {{ "and " if not loop.first }}efforts.{{ column }} = baseline.{{ column }}
        {%- endfor %}
            and baseline.effort = 0
    left join intervals as zero
        on
        {%- for column in group if column != "model" %}
            {{ "and " if not loop.first }}efforts.{{ column }} = zero.{{ column }}
        {%- endfor %}
            and zero.effort = 0
            and zero.model = 'zero_rule'
    where efforts.measure in ('roc_auc', 'brier_score')

),
{%- set measured = [
    "sd", "low", "high", "difference", "difference_low", "difference_high", "difference_limit",
    "zero_rule", "zero_rule_difference", "zero_rule_difference_low", "zero_rule_difference_high",
] %}

quality as (

    select
        effort,
        {{ group | join(",\n        ") }},
        measure as compared_measure,
        splits,
        paired_splits,
        zero_rule_splits,
        mean,
        {{ measured | join(",\n        ") }},
        {{ dbt_anonymize._without_noise("direction * difference_limit") }} >= -cast({{ margin }} as {{ double }}) as is_non_inferior,
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
        {%- for column in measured %}
        cast(null as {{ double }}) as {{ column }},
        {%- endfor %}
        cast(null as {{ dbt.type_boolean() }}) as is_non_inferior,
        cast(null as {{ dbt.type_boolean() }}) as beats_zero_rule
    from relative_measures

)

select
    quality.effort,
    {%- for column in group %}
    quality.{{ column }},
    {%- endfor %}
    quality.splits,
    quality.paired_splits,
    coalesce(possible_splits.all_splits, 0) as all_splits,
    quality.mean,
    {%- for column in measured %}
    quality.{{ column }},
    {%- endfor %}
    {#- A difference over fewer splits than there could be is one over chosen ones. #}
    case when quality.paired_splits = possible_splits.all_splits then quality.is_non_inferior end as is_non_inferior,
    case when quality.zero_rule_splits = possible_splits.all_splits then quality.beats_zero_rule end as beats_zero_rule
from quality
left join possible_splits
    on
    {%- for column in group %}
        {{ "and " if not loop.first }}quality.{{ "compared_measure" if column == "measure" else column }} = possible_splits.{{ column }}
    {%- endfor %}
order by
    {%- for column in group %}
    quality.{{ column }},
    {%- endfor %}
    quality.effort
{%- endmacro %}
