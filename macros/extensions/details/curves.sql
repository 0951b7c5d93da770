{% macro curves(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["evaluation"]) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set double = dbt_anonymize._type_double() -%}
{%- set without_class = ["effort", "target", "model", "fit", "test_on"] -%}
{%- set group = without_class + ["class"] -%}
{%- set of_curve = "partition by " ~ group | join(", ") -%}
with

counts as (

    select
        {{ without_class | join(",\n        ") }},
        name as class,
        bin,
        sum(case when other = '1' then value else 0 end) as of_class,
        sum(case when other = '1' then 0 else value end) as of_others
    from {{ given.evaluation }}
    where kind = 'probability' and value > 0
    group by
        {{ without_class | join(",\n        ") }},
        name,
        bin

),

{#- Records with at least the threshold are taken to be of the class. #}

thresholds as (

    select
        {{ group | join(",\n        ") }},
        cast(bin as {{ double }}) / 1000 as threshold,
        sum(of_class) over (
            {{ of_curve }}
            order by bin desc rows between unbounded preceding and current row
        ) as hits,
        sum(of_others) over (
            {{ of_curve }}
            order by bin desc rows between unbounded preceding and current row
        ) as false_alarms,
        sum(of_class) over ({{ of_curve }}) as of_class,
        sum(of_others) over ({{ of_curve }}) as of_others
    from counts
    union all
    {#- Where both curves begin: no record is taken to be of the class. #}
    select
        {{ group | join(",\n        ") }},
        cast(null as {{ double }}) as threshold,
        0 as hits,
        0 as false_alarms,
        sum(of_class) as of_class,
        sum(of_others) as of_others
    from counts
    group by
        {{ group | join(",\n        ") }}

),

curves as (

    select
        {{ group | join(",\n        ") }},
        'precision_recall' as curve,
        threshold,
        hits / nullif(of_class, 0) as x,
        case when threshold is null then 1 else hits / (hits + false_alarms) end as y
    from thresholds
    union all
    select
        {{ group | join(",\n        ") }},
        'roc' as curve,
        threshold,
        false_alarms / nullif(of_others, 0) as x,
        hits / nullif(of_class, 0) as y
    from thresholds

)

select
    {{ group | join(",\n    ") }},
    curve,
    threshold,
    x,
    y
from curves
order by
    {{ group | join(",\n    ") }},
    curve,
    case when threshold is null then 0 else 1 end,
    -threshold
{%- endmacro %}
