{% macro importance(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "evaluation", "measure",
], {
    "test_share": none, "folds": none, "confidence": 0.95,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set group = ["target", "model", "fit", "test_on", "measure", "feature"] -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set sign = "-" if given.measure in dbt_anonymize._lower_is_better() else "" -%}
with

importances as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        {#- Not the measure itself: a fall is not on its scale. #}
        kind as measure,
        other as feature,
        cast(null as {{ dbt.type_string() }}) as class,
        repetition,
        fold,
        case
            when abs(cast(value as {{ double }})) < cast('Infinity' as {{ double }})
                then {{ sign }}cast(value as {{ double }})
        end as value
    from {{ given.evaluation }}
    where kind = 'importance'

),

{{ dbt_anonymize._paired_scores("importances", group) }}

{{ dbt_anonymize._score_intervals(group, given) | trim | trim(",") }}

select
    intervals.effort,
    intervals.target,
    intervals.model,
    intervals.fit,
    intervals.test_on,
    {{ dbt_anonymize._literals([given.measure]) }} as measure,
    intervals.feature,
    intervals.splits,
    intervals.paired_splits,
    coalesce(possible_splits.all_splits, 0) as all_splits,
    intervals.mean as importance,
    intervals.sd,
    intervals.low,
    intervals.high,
    intervals.difference,
    intervals.difference_low,
    intervals.difference_high
from intervals
left join possible_splits
    on
        {{ dbt_anonymize._equal_columns("intervals", "possible_splits", group) | join("\n        and ") }}
order by
    {{ dbt_anonymize._columns_of("intervals", group + ["effort"]) | join(",\n    ") }}
{%- endmacro %}
