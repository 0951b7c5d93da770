{#
  Nergiz et al. 2007: of the people in each class of the population, a share between minimum and maximum is in the
  relation. Classes that are in the population only count too: their share is 0, and class_size is 0.
#}
{% macro delta_presence(relation, quasi_identifiers, population, minimum, maximum, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "delta_presence",
    {"minimum": [minimum, "a number >= 0 and <= 1"], "maximum": [maximum, "a number >= 0 and <= 1"]},
    [[minimum is not number or maximum is not number or minimum <= maximum, "have `minimum` <= `maximum`"]],
) -%}
with

{{ dbt_anonymize._keyed_rows("relation_rows", relation, quasi_identifiers, subject=subject) }}

classes as (

    select
        equivalence_class,
        {{ "count(distinct subject)" if subject else "count(*)" }} as class_size,
        count(*) as records
    from relation_rows
    group by equivalence_class

),

{{ dbt_anonymize._population_by_class(population, quasi_identifiers) }}

compared as (

    select
        coalesce(classes.class_size, 0) as class_size,
        coalesce(classes.records, 0) as records,
        coalesce(population.population_size, 0) as population_size
    from classes
    full outer join population
        on classes.equivalence_class = population.equivalence_class

),

violating as (

    select
        class_size,
        records,
        population_size,
        cast(class_size as {{ dbt_anonymize._type_double() }}) / nullif(population_size, 0) as presence
    from compared
    where {{ dbt_anonymize._violated_conditions([guarantee]) | join(" or ") }}

)

select * from violating
{%- endmacro %}


{% test delta_presence(model, minimum, maximum, quasi_identifiers, population, subject=none) %}
{{ dbt_anonymize._explain_failures("delta_presence", {"minimum": minimum, "maximum": maximum}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.delta_presence(model, quasi_identifiers, population, minimum, maximum, subject),
    ["class_size", "records", "population_size", "presence"],
    model,
    [subject],
) }}
{% endtest %}


{# Shares of the population that are in the table: class_size / population_size, as decimal numbers. #}
{% macro _delta_presence_model(guarantee) -%}
    {{ return({
        "conditions": [
            "coalesce(population_size, 0) = 0",
            "class_size < " ~ dbt_anonymize._number(guarantee.minimum) ~ " * population_size",
            "class_size > " ~ dbt_anonymize._number(guarantee.maximum) ~ " * population_size",
        ],
        "needs_population": true,
    }) }}
{%- endmacro %}
