{% macro quality_by_group(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "evaluation",
], {
    "test_share": none, "folds": none, "confidence": 0.95,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set group = ["target", "model", "fit", "test_on", "measure", "grouped_by", "group_value"] -%}
{%- set double = dbt_anonymize._type_double() -%}
with

evaluation as (

    select * from {{ given.evaluation }}

),

{#- Subjects of the groups that are large enough to be shown. #}

sizes as (

    select
        name as grouped_by,
        bin as place,
        other as group_value,
        cast(value as {{ dbt.type_bigint() }}) as group_size
    from evaluation
    where kind = 'group'

),

group_scores as (

    select
        evaluation.effort,
        evaluation.target,
        evaluation.model,
        evaluation.fit,
        evaluation.test_on,
        evaluation.name as measure,
        cast(null as {{ dbt.type_string() }}) as class,
        sizes.grouped_by,
        sizes.group_value,
        evaluation.repetition,
        evaluation.fold,
        {#- What is infinite would be the largest score. #}
        case
            when abs(cast(evaluation.value as {{ double }})) < cast('Infinity' as {{ double }})
                then cast(evaluation.value as {{ double }})
        end as value
    from evaluation
    inner join sizes
        on
            evaluation.bin = sizes.place
            and evaluation.other = sizes.group_value
    where evaluation.kind = 'group_measure'

),

{{ dbt_anonymize._paired_scores("group_scores", group) }}

{{ dbt_anonymize._score_intervals(group, given) | trim | trim(",") }}

select
    intervals.effort,
    {{ dbt_anonymize._columns_of("intervals", group) | join(",\n    ") }},
    sizes.group_size,
    intervals.splits,
    intervals.paired_splits,
    coalesce(possible_splits.all_splits, 0) as all_splits,
    intervals.mean,
    intervals.sd,
    intervals.low,
    intervals.high,
    intervals.difference,
    intervals.difference_low,
    intervals.difference_high,
    intervals.zero_rule
from intervals
inner join sizes
    on {{ dbt_anonymize._equal_columns("intervals", "sizes", ["grouped_by", "group_value"]) | join(" and ") }}
left join possible_splits
    on
        {{ dbt_anonymize._equal_columns("intervals", "possible_splits", group) | join("\n        and ") }}
order by
    {{ dbt_anonymize._columns_of("intervals", group + ["effort"]) | join(",\n    ") }}
{%- endmacro %}
