{#
  CTEs that end in `<prefix>uniques`: for each case `uniques`, the estimated number of people of the population whom
  nobody else is like. Dankar et al. 2012 compare the estimators.
    histogram   CTE with `case_id`, `class_size` and `classes` (how many classes of the sample have this size)
    estimator   zayatz, pitman, snb or dankar
    population  SQL for M, the number of people in the population
  0 where nobody is unique in the sample; the sample uniques where the sample is the population; within [0, M]. Where the
  equations of snb have no solution, the estimate is that of zayatz. Equations are solved on grids of 33 points that
  close in on the root, and by interpolation between the last two: no loop, no function that engines lack.
#}
{% macro _population_uniques(histogram, estimator, population, prefix="") -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set parts = {"dankar": ["zayatz", "pitman", "snb"], "snb": ["zayatz", "snb"]}.get(estimator, [estimator]) %}

{{ prefix }}samples as (

    select
        case_id,
        cast(sum(classes) as {{ double }}) as classes,
        cast(sum(classes * class_size) as {{ double }}) as people,
        cast(sum(case when class_size = 1 then classes else 0 end) as {{ double }}) as ones,
        cast(sum(case when class_size = 2 then classes else 0 end) as {{ double }}) as twos,
        cast({{ population }} as {{ double }}) as population,
        cast(sum(classes * class_size) as {{ double }}) / {{ population }} as fraction
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
            when samples.people >= samples.population then samples.ones
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


{# Zayatz 1991: each class is taken to be as large in the population as some class of the sample is there. #}
{% macro _zayatz(histogram, prefix) %}

{{ prefix }}zayatz as (

    select
        case_id,
        max(ones) * max(ones) * max(population / people) / sum(weight) as uniques
    from (
        select
            samples.case_id,
            samples.ones,
            samples.people,
            samples.population,
            {#- Classes times the hypergeometric chance that exactly one of class_size people is drawn, over its first factor. #}
            case
                when histogram.class_size - 1 > samples.population - samples.people then 0
                else histogram.classes * histogram.class_size * exp(
                    {{ dbt_anonymize._ln_gamma_ratio("(samples.population - samples.people + 1)", "(histogram.class_size - 1)") }}
                    - {{ dbt_anonymize._ln_gamma_ratio("samples.population", "(histogram.class_size - 1)") }}
                )
            end as weight
        from {{ histogram }} as histogram
        inner join {{ prefix }}samples as samples on histogram.case_id = samples.case_id
        where samples.ones > 0 and samples.people < samples.population
    ) as weighed
    group by case_id

),
{%- endmacro %}


{#
  Pitman's sampling formula with maximum-likelihood theta and alpha (Hoshino 2001). For each alpha the equation of theta
  has one root above -alpha; the remaining equation falls with alpha. Where it is negative at 0 already, alpha is 0.
#}
{% macro _pitman(histogram, prefix, condition) -%}
{%- set rounds = 4 %}

{{ prefix }}alpha_0 as (

    select
        case_id,
        classes,
        people,
        population,
        1e-5 as low,
        1 - 1e-9 as high,
        null as at_low,
        null as at_high
    from {{ prefix }}samples
    where ones > 0 and people < population and classes < people {{ condition }}

),
{%- for round in range(1, rounds + 1) %}
{%- set tried = prefix ~ "tried_" ~ round ~ "_" %}

{{ tried }}points as (

    select
        alphas.case_id,
        alphas.classes,
        alphas.people,
        alphas.population,
        alphas.low,
        alphas.high,
        alphas.low + (alphas.high - alphas.low) * grid.number / 32 as alpha
    from {{ prefix }}alpha_{{ round - 1 }} as alphas
    cross join {{ prefix }}grid as grid

),
{{- dbt_anonymize._pitman_theta(tried ~ "points", tried, prefix ~ "grid") }}

{{ tried }}excess as (

    select
        points.case_id,
        points.alpha,
        max(points.of_classes) - sum(
            histogram.classes * ({{ dbt_anonymize._digamma("(histogram.class_size - points.alpha)") }}
            - {{ dbt_anonymize._digamma("(1 - points.alpha)") }})
        ) as excess
    from {{ tried }}theta as points
    inner join {{ histogram }} as histogram on points.case_id = histogram.case_id
    group by
        points.case_id,
        points.alpha

),

{{ prefix }}alpha_{{ round }} as (

    select
        points.case_id,
        max(points.classes) as classes,
        max(points.people) as people,
        max(points.population) as population,
        coalesce(max(case when excess.excess > 0 then points.alpha end), max(points.low)) as low,
        case
            when max(excess.excess) > 0
                then max(case when excess.excess > 0 then points.alpha end) + (max(points.high) - max(points.low)) / 32
            else max(points.low)
        end as high,
        min(case when excess.excess > 0 then excess.excess end) as at_low,
        max(case when excess.excess <= 0 then excess.excess end) as at_high
    from {{ tried }}points as points
    inner join {{ tried }}excess as excess
        on points.case_id = excess.case_id and points.alpha = excess.alpha
    group by points.case_id

),
{%- endfor %}

{{ prefix }}alpha as (

    select
        case_id,
        classes,
        people,
        population,
        low,
        high,
        coalesce(low + (high - low) * at_low / (at_low - at_high), low) as alpha
    from {{ prefix }}alpha_{{ rounds }}

),
{{- dbt_anonymize._pitman_theta(prefix ~ "alpha", prefix ~ "last_", prefix ~ "grid") }}

{{ prefix }}pitman as (

    select
        case_id,
        exp({{ dbt_anonymize._ln_gamma_ratio("(shifted + 1 - alpha)", "(1 - alpha)") }} + alpha * ln(population)) as uniques
    from {{ prefix }}last_theta
    union all
    {#- Everybody in the sample is unique: so is everybody. #}
    select
        case_id,
        population as uniques
    from {{ prefix }}samples
    where ones > 0 and people < population and classes = people {{ condition }}

),
{%- endmacro %}


{#
  CTEs that end in `<prefix>theta`: `shifted` = theta + alpha > 0 such that the sum of 1/(theta + i alpha) over i < classes
  equals that of 1/(theta + i) over i < people; and `of_classes`, the sum of i/(theta + i alpha) over i < classes.
#}
{% macro _pitman_theta(points, prefix, grid) -%}
{%- set rounds = 4 %}

{{ prefix }}theta_0 as (

    select
        case_id,
        alpha,
        max(classes) as classes,
        max(people) as people,
        max(population) as population,
        ln(alpha) - 30 as low,
        2 * ln(max(people)) + 3 as high,
        max(case when classes is null then 0.0 end) as at_low,
        max(case when classes is null then 0.0 end) as at_high
    from {{ points }}
    group by
        case_id,
        alpha

),
{%- for round in range(1, rounds + 1) %}

{{ prefix }}theta_{{ round }} as (

    select
        case_id,
        alpha,
        max(classes) as classes,
        max(people) as people,
        max(population) as population,
        coalesce(max(case when excess > 0 then logarithm end), max(low)) as low,
        least(coalesce(max(case when excess > 0 then logarithm end), max(low)) + max(high - low) / 32, max(high)) as high,
        min(case when excess > 0 then excess end) as at_low,
        max(case when excess <= 0 then excess end) as at_high
    from (
        select
            *,
            ln({{ dbt_anonymize._digamma("(shifted / alpha + classes - 1)") }} - {{ dbt_anonymize._digamma("(shifted / alpha)") }})
            - ln(alpha)
            - ln({{ dbt_anonymize._digamma("(shifted + people - alpha)") }} - {{ dbt_anonymize._digamma("(shifted + 1 - alpha)") }})
            as excess
        from (
            select
                thetas.*,
                thetas.low + (thetas.high - thetas.low) * grid.number / 32 as logarithm,
                exp(thetas.low + (thetas.high - thetas.low) * grid.number / 32) as shifted
            from {{ prefix }}theta_{{ round - 1 }} as thetas
            cross join {{ grid }} as grid
        ) as points
    ) as tried
    group by
        case_id,
        alpha

),
{%- endfor %}

{{ prefix }}theta as (

    select
        *,
        (
            classes - 1 - (shifted / alpha - 1)
            * ({{ dbt_anonymize._digamma("(shifted / alpha + classes - 1)") }} - {{ dbt_anonymize._digamma("(shifted / alpha)") }})
        ) / alpha as of_classes
    from (
        select
            case_id,
            alpha,
            classes,
            people,
            population,
            exp(coalesce(low + (high - low) * at_low / (at_low - at_high), low)) as shifted
        from {{ prefix }}theta_{{ rounds }}
    ) as solved

),
{%- endmacro %}


{#
  Slide negative binomial model (Chen and Keller-McNulty 1998): 1 plus a negative binomial number (a, b) of people in each
  of K classes, K by Shlosser, (a, b) such that the expected numbers of sample classes of one and of two are those found.
#}
{% macro _slide_negative_binomial(histogram, prefix, condition) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set rounds = 5 %}

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
        where samples.ones > 0 and samples.twos > 0 and samples.people < samples.population {{ condition }}
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
            {{ dbt_anonymize._negative_binomial_excess(
                "select shlosser.*, -30 + (4 * coarse.number + fine.number) / 2.0 as logit from " ~ prefix ~ "shlosser as shlosser cross join "
                ~ prefix ~ "grid as coarse cross join " ~ prefix ~ "grid as fine where fine.number < 4 and 4 * coarse.number + fine.number <= 120"
            ) | indent(12) }}
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
            "select logits.*, low + (high - low) * grid.number / 32 as logit from " ~ prefix ~ "logit_" ~ (round - 1) ~ " as logits cross join "
            ~ prefix ~ "grid as grid"
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
            "select logits.*, coalesce(low + (high - low) * at_low / (at_low - at_high), high) as logit from " ~ prefix ~ "logit_" ~ rounds ~ " as logits"
        ) | indent(8) }}
    ) as solved

),
{%- endmacro %}


{#
  For points with `logit`: b; a, so that the expected twos per one are those found (a quadratic with one positive root, in
  the form that does not cancel); and `excess`, the logarithm of expected over observed ones, which is negative towards
  b = 0. With d = (1 - f)(1 - b): E f1 = K f (b / (1 - d))^a (1 + a d / (1 - d)),
  E f2 = K a b^a f^2 (1 - b) (2 - (1 - a) d) / (2 (1 - d)^(a + 2)).
#}
{% macro _negative_binomial_excess(points) -%}
select
    *,
    a * (ln(b) - ln(rest)) + ln(1 + a * d / rest) - ln(ones / (total * fraction)) as excess
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
            2 - d - d * (twos / ones * 2 * rest / (fraction * (1 - b))) as linear,
            rest * (twos / ones * 2 * rest / (fraction * (1 - b))) as free
        from (
            select
                *,
                (1 - fraction) * (1 - b) as d,
                {#- 1 - d, which would lose the digits of a small b. #}
                fraction + b * (1 - fraction) as rest
            from (
                select
                    *,
                    1 / (1 + exp(-logit)) as b
                from (
                    {{ points }}
                ) as points
            ) as with_b
        ) as with_d
    ) as with_terms
) as with_a
{%- endmacro %}


{#
  ln(gamma(y) / gamma(y - m)) for y > m >= 0, without the digits that a difference of large logarithms loses: eight steps
  up, then Stirling's series; ln(y / (y - m)) by its own series where it is small.
#}
{% macro _ln_gamma_ratio(y, m) -%}
    {%- set upper = "(" ~ y ~ " + 8.0)" -%}
    {%- set lower = "(" ~ y ~ " - " ~ m ~ " + 8.0)" -%}
    {%- set q = "(" ~ m ~ " / (" ~ upper ~ " + " ~ lower ~ "))" -%}
    {%- set above, below = [], [] -%}
    {%- for step in range(8) -%}
        {%- do above.append("(" ~ y ~ " + " ~ step ~ ".0)") -%}
        {%- do below.append("(" ~ y ~ " - " ~ m ~ " + " ~ step ~ ".0)") -%}
    {%- endfor -%}
    {%- set square = "(" ~ q ~ " * " ~ q ~ ")" -%}
    {{ return(
        "((" ~ lower ~ " - 0.5) * case when " ~ q ~ " < 0.03 then 2 * " ~ q ~ " * (1 + " ~ square ~ " * (1.0 / 3 + " ~ square ~ " * (1.0 / 5 + " ~ square
        ~ " * (1.0 / 7 + " ~ square ~ " / 9)))) else ln(" ~ upper ~ " / " ~ lower ~ ") end + " ~ m ~ " * (ln(" ~ upper ~ ") - 1)"
        ~ " + (1 / " ~ upper ~ " - 1 / " ~ lower ~ ") / 12 - (power(1 / " ~ upper ~ ", 3) - power(1 / " ~ lower ~ ", 3)) / 360"
        ~ " + (power(1 / " ~ upper ~ ", 5) - power(1 / " ~ lower ~ ", 5)) / 1260"
        ~ " - ln(" ~ above | join(" * ") ~ ") + ln(" ~ below | join(" * ") ~ "))"
    ) }}
{%- endmacro %}
