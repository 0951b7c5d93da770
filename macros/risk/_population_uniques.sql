{#
  CTEs that end in `<prefix>uniques`: for each case `uniques`, the estimated number of people of the population who
  are alone with their quasi-identifiers. Dankar et al. 2012 compare the estimators.
    histogram        CTE with `case_id`, `class_size` and `classes` (how many classes of the sample have this size)
    estimator        zayatz, pitman, snb or dankar
    population_size  SQL for M, the number of people in the population
  0 where nobody is unique in the sample; the sample uniques where the sample is the population; within [0, M]. Where
  the equations of snb have no solution, the estimate is that of zayatz. Equations are solved on grids of 33 points that
  close in on the root, and by interpolation between the last two: no loop, no function that engines lack.
#}
{% macro _population_uniques(histogram, estimator, population_size, prefix="") -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set parts = {"dankar": ["zayatz", "pitman", "snb"], "snb": ["zayatz", "snb"]}.get(estimator, [estimator]) %}

{{ prefix }}samples as (

    select
        case_id,
        cast(sum(classes) as {{ double }}) as classes,
        cast(sum(classes * class_size) as {{ double }}) as subjects,
        cast(sum(case when class_size = 1 then classes else 0 end) as {{ double }}) as ones,
        cast(sum(case when class_size = 2 then classes else 0 end) as {{ double }}) as twos,
        cast({{ population_size }} as {{ double }}) as population,
        cast(sum(classes * class_size) as {{ double }}) / {{ population_size }} as fraction
    from {{ histogram }}
    group by case_id

),

{{ prefix }}grid as (

    select cast(generated_number - 1 as {{ double }}) as number
    from ({{ dbt.generate_series(33) }}) as numbers

),
{%- if "zayatz" in parts %}
{{- dbt_anonymize._zayatz(histogram, prefix) }}
{%- endif %}
{%- if "pitman" in parts %}
{{- dbt_anonymize._pitman(histogram, prefix, "and fraction <= 0.1" if estimator == "dankar" else "") }}
{%- endif %}
{%- if "snb" in parts %}
{{- dbt_anonymize._slide_negative_binomial(histogram, prefix, "and fraction > 0.1" if estimator == "dankar" else "") }}
{%- endif %}

{{ prefix }}uniques as (

    select
        samples.case_id,
        case
            when samples.ones = 0 then 0
            when samples.subjects >= samples.population then samples.ones
            {%- if estimator == "dankar" %}
            when samples.fraction <= 0.1 then least(pitman.uniques, samples.population)
            else least(zayatz.uniques, coalesce(snb.uniques, zayatz.uniques), samples.population)
            {%- elif estimator == "snb" %}
            else least(coalesce(snb.uniques, zayatz.uniques), samples.population)
            {%- else %}
            else least({{ estimator }}.uniques, samples.population)
            {%- endif %}
        end as uniques
    from {{ prefix }}samples as samples
    {%- for part in parts %}
    left join {{ prefix }}{{ part }} as {{ part }} on samples.case_id = {{ part }}.case_id
    {%- endfor %}

),
{%- endmacro %}
