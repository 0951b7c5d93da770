{# Sweeney 2001; estimated: El Emam and Dankar 2008. Every class has at least k people in the population. #}
{% macro k_map(
    relation,
    quasi_identifiers,
    k,
    population=none,
    estimator=none,
    significance=none,
    population_size=none,
    subject=none
) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "k_map",
    {
        "k": [k, "an integer >= 2"],
        "estimator": [estimator, ["poisson", "zero_truncated_poisson", none]],
        "significance": [significance, "a number > 0 and < 1 or none"],
    },
    [
        [(estimator is none) == (significance is none), "have `estimator` and `significance` together or neither"],
        [
            (population is none) != (estimator is none),
            "have exactly one of `population` (a relation to count in) and `estimator`",
        ],
    ],
) -%}
{%- if estimator -%}
{%- do dbt_anonymize._check_population_size("k_map", population_size) -%}
{{ dbt_anonymize._violating_classes(
    relation,
    quasi_identifiers,
    guarantee,
    {"demanded_size": "(select k from derived_k_1)"},
    subject,
    {"population_size": population_size},
) }}
{%- else -%}
{{ dbt_anonymize._violating_classes(
    relation,
    quasi_identifiers,
    guarantee,
    {"population_size": "coalesce(population_size, 0)"},
    subject,
    {"population": population},
) }}
{%- endif -%}
{%- endmacro %}


{% test k_map(
    model,
    k,
    quasi_identifiers,
    population=none,
    estimator=none,
    significance=none,
    population_size=none,
    subject=none
) %}
{{ dbt_anonymize._explain_failures("k_map", {"k": k, "estimator": estimator, "significance": significance}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.k_map(model, quasi_identifiers, k, population, estimator, significance, population_size, subject),
    ["class_size", "records", "demanded_size" if estimator else "population_size"],
    model,
    [subject],
) }}
{% endtest %}


{% macro _k_map_model(guarantee, table_size=none, population_size=none) -%}
    {%- if guarantee.estimator -%}
        {{ return({
            "counts_everybody": true,
            "is_estimated": true,
            "demanded_size": dbt_anonymize._derived_k(guarantee, table_size, population_size) if table_size else none,
        }) }}
    {%- endif -%}
    {{ return({"conditions": ["coalesce(population_size, 0) < " ~ guarantee.k], "needs_population": true}) }}
{%- endmacro %}


{#
  The class size that an estimated k-map demands: with it, a class has less than k people in the population only with
  the probability `significance`. The number of people in the population that are like a class is taken as Poisson
  distributed with mean k * subjects / population_size (El Emam and Dankar 2008).
#}
{% macro _derived_k(guarantee, table_size, population_size) -%}
{%- set double = dbt_anonymize._type_double() -%}
select cast(least({{ guarantee.k }}, subjects, coalesce(
        min(case when cumulated >= 1 - {{ dbt_anonymize._number(guarantee.significance) }} then number end)
        {{- " + 2" if guarantee.estimator == "poisson" else " + 1" }},
        {{ guarantee.k }}
    )) as {{ dbt.type_bigint() }}) as k
    from (
        select
            number,
            subjects,
            sum(probability) over (order by number rows between unbounded preceding and current row)
            {%- if guarantee.estimator != "poisson" %}
            / (1 - exp(-max(mean) over ()))
            {%- endif %} as cumulated
        from (
            select
                terms.number,
                terms.subjects,
                terms.mean,
                {%- if guarantee.estimator == "poisson" %}
                exp(terms.number * ln(terms.mean) - terms.mean - terms.ln_factorial) as probability
                {%- else %}
                case
                    when terms.number = 0 then 0
                    else exp(terms.number * ln(terms.mean) - terms.mean - terms.ln_factorial)
                end as probability
                {%- endif %}
            from (
                select
                    numbers.generated_number - 1 as number,
                    whole.subjects,
                    cast({{ guarantee.k }} as {{ double }}) * whole.subjects / {{ population_size }} as mean,
                    coalesce(sum(ln(nullif(numbers.generated_number - 1, 0))) over (
                        order by numbers.generated_number rows between unbounded preceding and current row
                    ), 0) as ln_factorial
                from ({{ dbt.generate_series(guarantee.k + 1) }}) as numbers
                cross join {{ table_size }} as whole
                where whole.subjects > 0
            ) as terms
        ) as weighed
    ) as summed
    group by subjects
{%- endmacro %}
