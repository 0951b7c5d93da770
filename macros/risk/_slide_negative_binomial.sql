{#
  Slide negative binomial model (Chen and Keller-McNulty 1998): each of K classes has 1 plus a negative binomial number
  (a, b) of subjects. K by Shlosser's estimator; (a, b) such that the expected numbers of sample classes of one and two
  are those found.
#}
{% macro _slide_negative_binomial(histogram, prefix, condition) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set rounds = 5 -%}
{%- set coarse_points = "select shlosser.*, -30 + (4 * coarse.number + fine.number) / 2.0 as logit"
    ~ " from " ~ prefix ~ "shlosser as shlosser"
    ~ " cross join " ~ prefix ~ "grid as coarse cross join " ~ prefix ~ "grid as fine"
    ~ " where fine.number < 4 and 4 * coarse.number + fine.number <= 120" %}

{{ prefix }}shlosser as (

    select
        case_id,
        max(ones) as ones,
        max(twos) as twos,
        max(fraction) as fraction,
        max(classes) + max(ones) * (
            sum(class_size * fraction * fraction * exp((class_size - 1) * ln(1 - fraction * fraction)) * number)
            / sum((exp(class_size * ln(1 - fraction * fraction)) - exp(class_size * ln(1 - fraction))) * number)
        ) * power(
            sum(exp(class_size * ln(1 - fraction)) * number)
            / sum(class_size * fraction * exp((class_size - 1) * ln(1 - fraction)) * number),
            2
        ) as total
    from (
        select
            samples.*,
            cast(histogram.class_size as {{ double }}) as class_size,
            cast(histogram.classes as {{ double }}) as number
        from {{ histogram }} as histogram
        inner join {{ prefix }}samples as samples on histogram.case_id = samples.case_id
        where samples.ones > 0 and samples.twos > 0 and samples.subjects < samples.population {{ condition }}
    ) as sizes
    group by case_id

),

{#- b = 1 / (1 + exp(-x)), and x between -30 and 30: first in steps of a half, then closer. #}

{{ prefix }}logit_0 as (

    select
        case_id,
        min(ones) as ones,
        min(twos) as twos,
        min(fraction) as fraction,
        min(total) as total,
        min(case when excess > 0 and earlier_excess <= 0 then logit end) - 0.5 as low,
        min(case when excess > 0 and earlier_excess <= 0 then logit end) as high,
        min(excess) as at_low,
        min(excess) as at_high
    from (
        select
            *,
            lag(excess) over (partition by case_id order by logit) as earlier_excess
        from (
            {{ dbt_anonymize._negative_binomial_excess(coarse_points) | indent(12) }}
        ) as tried
    ) as compared
    group by case_id
    having min(case when excess > 0 and earlier_excess <= 0 then logit end) is not null

),
{%- for round in range(1, rounds + 1) %}

{{ prefix }}logit_{{ round }} as (

    select
        case_id,
        min(ones) as ones,
        min(twos) as twos,
        min(fraction) as fraction,
        min(total) as total,
        coalesce(min(case when excess > 0 then logit end), max(high)) - max(high - low) / 32 as low,
        coalesce(min(case when excess > 0 then logit end), max(high)) as high,
        max(case when excess <= 0 then excess end) as at_low,
        min(case when excess > 0 then excess end) as at_high
    from (
        {{ dbt_anonymize._negative_binomial_excess(
            "select logits.*, low + (high - low) * grid.number / 32 as logit"
            ~ " from " ~ prefix ~ "logit_" ~ (round - 1) ~ " as logits cross join " ~ prefix ~ "grid as grid"
        ) | indent(8) }}
    ) as tried
    group by case_id

),
{%- endfor %}

{{ prefix }}snb as (

    select
        case_id,
        total * exp(a * ln(b)) as uniques
    from (
        {{ dbt_anonymize._negative_binomial_excess(
            "select logits.*, coalesce(low + (high - low) * at_low / (at_low - at_high), high) as logit"
            ~ " from " ~ prefix ~ "logit_" ~ rounds ~ " as logits"
        ) | indent(8) }}
    ) as solved

),
{%- endmacro %}


{#
  For points with `logit`: b; a, so that the expected twos per one are those found (a quadratic with one positive root,
  in the form that does not cancel); and `excess`, the logarithm of expected over observed ones, which is negative
  towards b = 0. With d = (1 - f)(1 - b): E f1 = K f (b / (1 - d))^a (1 + a d / (1 - d)),
  E f2 = K a b^a f^2 (1 - b) (2 - (1 - a) d) / (2 (1 - d)^(a + 2)).
  Towards b = 1, where a is as large as 10^18, what is small is never a difference: (1 - d) / b = 1 + f (1 - b) / b.
#}
{% macro _negative_binomial_excess(points) -%}
select
    *,
    ln(1 + a * d / rest) - ln(ones / (total * fraction)) - a * case
        when growth < 0.0001 then growth - growth * growth / 2 + growth * growth * growth / 3
        else ln(1 + growth)
    end as excess
from (
    select
        *,
        case
            when linear > 0 then 2 * free / (linear + sqrt(linear * linear + 4 * d * free))
            else (sqrt(linear * linear + 4 * d * free) - linear) / (2 * d)
        end as a
    from (
        select
            *,
            2 - d - d * (twos / ones * 2 * rest / (fraction * not_b)) as linear,
            rest * (twos / ones * 2 * rest / (fraction * not_b)) as free
        from (
            select
                *,
                (1 - fraction) * not_b as d,
                {#- 1 - d, which would lose the digits of a small b. #}
                fraction + b * (1 - fraction) as rest,
                fraction * not_b / b as growth
            from (
                select
                    *,
                    1 / (1 + exp(-logit)) as b,
                    1 / (1 + exp(logit)) as not_b
                from (
                    {{ points }}
                ) as points
            ) as with_b
        ) as with_d
    ) as with_terms
) as with_a
{%- endmacro %}
