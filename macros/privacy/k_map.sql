{# Sweeney 2001; estimated: El Emam and Dankar 2008. Every class has at least k people in the population. #}
{% macro k_map(relation, quasi_identifiers, k, population=none, estimator=none, significance=none, population_size=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee("k_map", {"k": k, "estimator": estimator, "significance": significance}) -%}
{%- if (population is none) == (estimator is none) -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": k_map must have exactly one of `population` (a relation to count in) and `estimator`; got: population="
        ~ population ~ ", estimator=" ~ estimator ~ ". Correct the arguments of k_map."
    ) }}
{%- endif -%}
{%- if estimator -%}
{%- do dbt_anonymize._check_population_size("k_map", population_size) -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, {"demanded_size": "(select k from derived_k_1)"}, subject, population_size=population_size
) }}
{%- else -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, {"population_size": "coalesce(population_size, 0)"}, subject, population
) }}
{%- endif -%}
{%- endmacro %}
