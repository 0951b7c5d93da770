{# Zayatz 1991: each class is taken to be as large in the population as some class of the sample is there. #}
{% macro _zayatz(histogram, prefix) -%}
{%- set others = "(histogram.class_size - 1)" %}

{{ prefix }}zayatz as (

    select
        case_id,
        max(ones) * max(ones) * max(population / subjects) / sum(weight) as uniques
    from (
        select
            samples.case_id,
            samples.ones,
            samples.subjects,
            samples.population,
            {#- Classes times the hypergeometric probability of drawing one of class_size, over its first factor. #}
            case
                when histogram.class_size - 1 > samples.population - samples.subjects then 0
                else histogram.classes * histogram.class_size * exp(
                    {{ dbt_anonymize._ln_gamma_ratio("(samples.population - samples.subjects + 1)", others) }}
                    - {{ dbt_anonymize._ln_gamma_ratio("samples.population", others) }}
                )
            end as weight
        from {{ histogram }} as histogram
        inner join {{ prefix }}samples as samples on histogram.case_id = samples.case_id
        where samples.ones > 0 and samples.subjects < samples.population
    ) as weighed
    group by case_id

),
{%- endmacro %}
