{#
  The class size that an estimated k-map demands: with it, a class has less than k people in the population only with
  the probability `significance`. The number of people in the population that are like a class is taken as Poisson
  distributed with mean k * people / population_size (El Emam and Dankar 2008).
#}
{% macro _derived_k(guarantee, people, population_size) -%}
{%- set double = dbt_anonymize._type_double() -%}
select cast(least({{ guarantee.k }}, people, coalesce(
        min(case when cumulated >= 1 - {{ dbt_anonymize._number(guarantee.significance) }} then number end)
        {{- " + 2" if guarantee.estimator == "poisson" else " + 1" }},
        {{ guarantee.k }}
    )) as {{ dbt.type_bigint() }}) as k
    from (
        select
            number,
            people,
            sum(probability) over (order by number rows between unbounded preceding and current row)
            {%- if guarantee.estimator != "poisson" %}
            / (1 - exp(-max(mean) over ()))
            {%- endif %} as cumulated
        from (
            select
                terms.number,
                terms.people,
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
                    whole.people,
                    cast({{ guarantee.k }} as {{ double }}) * whole.people / {{ population_size }} as mean,
                    coalesce(sum(ln(nullif(numbers.generated_number - 1, 0))) over (
                        order by numbers.generated_number rows between unbounded preceding and current row
                    ), 0) as ln_factorial
                from ({{ dbt.generate_series(guarantee.k + 1) }}) as numbers
                cross join {{ people }} as whole
                where whole.people > 0
            ) as terms
        ) as weighed
    ) as summed
    group by people
{%- endmacro %}
