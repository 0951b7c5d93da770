{% macro confusion(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["evaluation"]) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set group = ["effort", "target", "model", "fit", "test_on"] -%}
with

counts as (

    select
        {{ group | join(",\n        ") }},
        name as true_class,
        other as predicted_class,
        value as records
    from {{ given.evaluation }}
    where kind = 'confusion'

),

evaluated as (

    select distinct
        {{ group | join(",\n        ") }}
    from counts

),

classes as (

    select
        target,
        true_class as class
    from counts
    union
    select
        target,
        predicted_class as class
    from counts

),

{#- Every pair of classes is listed, also one that never occurred. #}

confusion as (

    select
        {{ dbt_anonymize._columns_of("evaluated", group) | join(",\n        ") }},
        true_classes.class as true_class,
        predicted_classes.class as predicted_class,
        cast(coalesce(sum(counts.records), 0) as {{ dbt.type_bigint() }}) as records
    from evaluated
    inner join classes as true_classes on evaluated.target = true_classes.target
    inner join classes as predicted_classes on evaluated.target = predicted_classes.target
    left join counts
        on
            {{ dbt_anonymize._equal_columns("evaluated", "counts", group) | join("\n            and ") }}
            and true_classes.class = counts.true_class
            and predicted_classes.class = counts.predicted_class
    group by
        {{ dbt_anonymize._columns_of("evaluated", group) | join(",\n        ") }},
        true_classes.class,
        predicted_classes.class

)

select
    *,
    cast(records as {{ dbt_anonymize._type_double() }})
    / nullif(sum(records) over (partition by {{ group | join(", ") }}, true_class), 0) as share
from confusion
order by
    {{ group | join(",\n    ") }},
    true_class,
    predicted_class
{%- endmacro %}
