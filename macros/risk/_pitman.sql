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
        subjects,
        population,
        1e-5 as low,
        1 - 1e-9 as high,
        null as at_low,
        null as at_high
    from {{ prefix }}samples
    where ones > 0 and subjects < population and classes < subjects {{ condition }}

),
{%- for round in range(1, rounds + 1) %}
{%- set tried = prefix ~ "tried_" ~ round ~ "_" %}

{{ tried }}points as (

    select
        alphas.case_id,
        alphas.classes,
        alphas.subjects,
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
        max(points.subjects) as subjects,
        max(points.population) as population,
        coalesce(max(case when excess.excess > 0 then points.alpha end), max(points.low)) as low,
        case
            when max(excess.excess) > 0
                then max(case when excess.excess > 0 then points.alpha end)
                    + (max(points.high) - max(points.low)) / 32
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
        subjects,
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
        exp(
            {{ dbt_anonymize._ln_gamma_ratio("(shifted + 1 - alpha)", "(1 - alpha)") }} + alpha * ln(population)
        ) as uniques
    from {{ prefix }}last_theta
    union all
    {#- Everybody in the sample is unique: so is everybody. #}
    select
        case_id,
        population as uniques
    from {{ prefix }}samples
    where ones > 0 and subjects < population and classes = subjects {{ condition }}

),
{%- endmacro %}


{#
  CTEs that end in `<prefix>theta`: `shifted` = theta + alpha > 0 such that the sum of 1/(theta + i alpha) over
  i < classes equals that of 1/(theta + i) over i < subjects; and `of_classes`, the sum of i/(theta + i alpha) over
  i < classes.
#}
{% macro _pitman_theta(points, prefix, grid) -%}
{%- set rounds = 4 -%}
{%- set over_classes = dbt_anonymize._digamma("(shifted / alpha + classes - 1)")
    ~ " - " ~ dbt_anonymize._digamma("(shifted / alpha)") -%}
{%- set over_subjects = dbt_anonymize._digamma("(shifted + subjects - alpha)")
    ~ " - " ~ dbt_anonymize._digamma("(shifted + 1 - alpha)") %}

{{ prefix }}theta_0 as (

    select
        case_id,
        alpha,
        max(classes) as classes,
        max(subjects) as subjects,
        max(population) as population,
        ln(alpha) - 30 as low,
        2 * ln(max(subjects)) + 3 as high,
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
        max(subjects) as subjects,
        max(population) as population,
        coalesce(max(case when excess > 0 then logarithm end), max(low)) as low,
        least(
            coalesce(max(case when excess > 0 then logarithm end), max(low)) + max(high - low) / 32, max(high)
        ) as high,
        min(case when excess > 0 then excess end) as at_low,
        max(case when excess <= 0 then excess end) as at_high
    from (
        select
            *,
            ln({{ over_classes }}) - ln(alpha) - ln({{ over_subjects }}) as excess
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
            * ({{ over_classes }})
        ) / alpha as of_classes
    from (
        select
            case_id,
            alpha,
            classes,
            subjects,
            population,
            exp(coalesce(low + (high - low) * at_low / (at_low - at_high), low)) as shifted
        from {{ prefix }}theta_{{ rounds }}
    ) as solved

),
{%- endmacro %}
