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

{# The same splits for every effort make the comparison with the untouched table paired. #}
paired as (

    select
        scores.effort,
        {%- for column in group %}
        scores.{{ column }},
        {%- endfor %}
        scores.value,
        scores.value - baseline.value as difference
    from scores
    left join scores as baseline
        on
        {%- for column in group %}
            {{ "and " if not loop.first }}scores.{{ column }} = baseline.{{ column }}
        {%- endfor %}
            and scores.repetition = baseline.repetition
            and scores.fold = baseline.fold
            and baseline.effort = 0

),

summed as (

    select
        effort,
        {{ group | join(",\n        ") }},
        count(value) as splits,
        count(difference) as paired_splits,
        avg(value) as mean,
        stddev_samp(value) as sd,
        avg(difference) as difference,
        stddev_samp(difference) as difference_sd
    from paired
    group by
        effort,
        {{ group | join(",\n        ") }}

),

rounded as (

    select
        effort,
        {{ group | join(",\n        ") }},
        splits,
        paired_splits,
        {%- for column in ["mean", "sd", "difference", "difference_sd"] %}
        {{ dbt_anonymize._without_noise(column) }} as {{ column }}{{ "," if not loop.last }}
        {%- endfor %}
    from summed

),

{# Nadeau and Bengio 2003: splits share records, so the plain standard error is too small. #}
{%- if folds is none %}
{%- set test_to_train = "cast(" ~ test_share ~ " as " ~ double ~ ") / (1 - " ~ test_share ~ ")" %}
{%- else %}
{%- set test_to_train = "cast(1.0 as " ~ double ~ ") / (" ~ folds ~ " - 1)" %}
{%- endif %}
errors as (

    select
        *,
        sd * sqrt(cast(1.0 as {{ double }}) / nullif(splits, 0) + {{ test_to_train }}) as error,
        difference_sd * sqrt(cast(1.0 as {{ double }}) / nullif(paired_splits, 0) + {{ test_to_train }}) as difference_error,
        {{ dbt_anonymize.student_t_quantile("splits - 1", confidence) | indent(8) }} as t_quantile,
        {{ dbt_anonymize.student_t_quantile("paired_splits - 1", confidence) | indent(8) }} as difference_t_quantile,
        {{ dbt_anonymize.student_t_quantile("paired_splits - 1", confidence, two_sided=false) | indent(8) }} as one_sided_t_quantile,
        case when measure in ({{ lower_is_better | join(", ") }}) then -1 else 1 end as direction
    from rounded

),

intervals as (

    select
        effort,
        {{ group | join(",\n        ") }},
        splits,
        paired_splits,
        mean,
        sd,
        mean - t_quantile * error as low,
        mean + t_quantile * error as high,
        difference,
        difference - difference_t_quantile * difference_error as difference_low,
        difference + difference_t_quantile * difference_error as difference_high,
        {#- How much worse the effort may be: the lower limit where higher is better, else the upper one. #}
        difference - direction * one_sided_t_quantile * difference_error as difference_limit,
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

quality as (

    select
        effort,
        {{ group | join(",\n        ") }},
        measure as compared_measure,
        splits,
        paired_splits,
        mean,
        sd,
        low,
        high,
        difference,
        difference_low,
        difference_high,
        difference_limit,
        {{ dbt_anonymize._without_noise("direction * difference_limit") }} >= -cast({{ margin }} as {{ double }}) as is_non_inferior
    from intervals
    union all
    select
        effort,
        {{ group | join(",\n        ") }},
        compared_measure,
        splits,
        paired_splits,
        {{ dbt_anonymize._without_noise("mean") }} as mean,
        {%- for column in ["sd", "low", "high", "difference", "difference_low", "difference_high", "difference_limit"] %}
        cast(null as {{ double }}) as {{ column }},
        {%- endfor %}
        cast(null as {{ dbt.type_boolean() }}) as is_non_inferior
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
    quality.sd,
    quality.low,
    quality.high,
    quality.difference,
    quality.difference_low,
    quality.difference_high,
    quality.difference_limit,
    {#- A difference over fewer splits than there could be is one over chosen ones. #}
    case when quality.paired_splits = possible_splits.all_splits then quality.is_non_inferior end as is_non_inferior
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
