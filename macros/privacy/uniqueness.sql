{#
  How many subjects nobody else is like: their share of the relation, or the estimated share of the population. One row
  where it is too large, with the unique subjects of the relation.
#}
{% macro uniqueness(
    relation,
    quasi_identifiers,
    sample_share=none,
    population_share=none,
    estimator=none,
    population_size=none,
    subject=none
) -%}
{%- do dbt_anonymize._checked_guarantee(
    "uniqueness",
    {
        "sample_share": [sample_share, "a number >= 0 and < 1 or none"],
        "population_share": [population_share, "a number >= 0 and < 1 or none"],
        "estimator": [estimator, ["zayatz", "pitman", "snb", "dankar", none]],
    },
    [
        [
            (sample_share is none) != (population_share is none),
            "limit exactly one of `sample_share` and `population_share`",
        ],
        [
            estimator is none or population_share is not none,
            "have an `estimator` only where `population_share` is limited",
        ],
    ],
) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- if population_share is not none -%}
    {%- do dbt_anonymize._check_population_size("uniqueness", population_size) -%}
{%- endif -%}
with

{{ dbt_anonymize._keyed_rows("relation_rows", relation, quasi_identifiers, subject=subject) }}

classes as (

    select
        {{ "count(distinct subject)" if subject else "count(*)" }} as class_size,
        count(*) as records
    from relation_rows
    group by equivalence_class

),

totals as (

    select
        coalesce(sum(records), 0) as records,
        coalesce(sum(class_size), 0) as subjects,
        coalesce(sum(case when class_size = 1 then 1 else 0 end), 0) as unique_subjects
    from classes

),
{%- if population_share is not none %}

histogram as (

    select
        1 as case_id,
        class_size,
        count(*) as classes
    from classes
    where class_size > 0
    group by class_size

),
{{- dbt_anonymize._population_uniques("histogram", estimator or "dankar", population_size) }}
{%- endif %}

violating as (

    select
        totals.records,
        totals.unique_subjects,
        {%- if population_share is not none %}
        uniques.uniques / {{ population_size }} as uniqueness
    from totals
    inner join uniques on uniques.case_id = 1
    where uniques.uniques > {{ dbt_anonymize._number(population_share) }} * (1 + 1e-12) * {{ population_size }}
        {%- else %}
        cast(totals.unique_subjects as {{ double }}) / nullif(totals.subjects, 0) as uniqueness
    from totals
    where totals.unique_subjects > {{ dbt_anonymize._number(sample_share) }} * totals.subjects
        {%- endif %}

)

select * from violating
{%- endmacro %}


{% test uniqueness(
    model,
    quasi_identifiers,
    sample_share=none,
    population_share=none,
    estimator=none,
    population_size=none,
    subject=none
) %}
{{ dbt_anonymize._explain_failures(
    "uniqueness", {"sample_share": sample_share, "population_share": population_share, "estimator": estimator}
) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.uniqueness(
        model, quasi_identifiers, sample_share, population_share, estimator, population_size, subject
    ),
    ["records", "unique_subjects", "uniqueness"],
    model,
    [subject],
) }}
{% endtest %}
