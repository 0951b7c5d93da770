{% macro results(scores, privacy, measure, test_share, alpha, qnf, fingerprint, release_effort="auto") -%}
{{ config(materialized="table") }}
{%- set double = dbt_anonymize._type_double() -%}
{%- if qnf not in ["k", "1 - 1/k"] -%}
    {{ exceptions.raise_compiler_error(model.name ~ ": `qnf` must be 'k' or '1 - 1/k'; got: " ~ qnf ~ ". Correct the spec and generate again.") }}
{%- endif -%}
with

scores as (

    select
        effort,
        repetition,
        value
    from {{ scores }}
    where test_on = 'original' and measure = {{ dbt_anonymize._literal(measure) }}

),

privacy as (

    select * from {{ privacy }}

),

{# The same splits for every effort make the comparison with the untouched table paired. #}
paired as (

    select
        scores.effort,
        scores.value,
        scores.value - baseline.value as difference
    from scores
    left join scores as baseline
        on scores.repetition = baseline.repetition and baseline.effort = 0

),

quality as (

    select
        effort,
        count(value) as repetitions,
        {#- Without the last bits of a sum, which depend on the order of its terms and would decide ties. #}
        floor(avg(value) * 1e12 + 0.5) / 1e12 as qf_mean,
        stddev_samp(value) as qf_sd,
        floor(avg(difference) * 1e12 + 0.5) / 1e12 as qf_difference
    from paired
    group by effort

),

{# Nadeau and Bengio 2003: repeated splits share records, so the plain standard error is too small. #}
intervals as (

    select
        effort,
        repetitions,
        qf_mean,
        qf_sd,
        qf_difference,
        {{ dbt_anonymize.student_t_quantile("repetitions - 1") | indent(8) }} as t_quantile,
        qf_sd * sqrt(
            cast(1.0 as {{ double }}) / repetitions + cast({{ test_share }} as {{ double }}) / (1 - {{ test_share }})
        ) as corrected_error
    from quality

),

combined as (

    select
        privacy.effort,
        privacy.k,
        privacy.records,
        privacy.suppressed_records,
        privacy.violating_records,
        intervals.repetitions,
        intervals.qf_mean,
        intervals.qf_sd,
        intervals.qf_mean - intervals.t_quantile * intervals.corrected_error as qf_low,
        intervals.qf_mean + intervals.t_quantile * intervals.corrected_error as qf_high,
        intervals.qf_difference,
        {%- if qnf == "k" %}
        cast(privacy.k as {{ double }}) as qnf,
        {%- else %}
        1 - cast(1.0 as {{ double }}) / privacy.k as qnf,
        {%- endif %}
        cast({{ alpha }} as {{ double }}) as alpha,
        privacy.effort > 0 and coalesce(privacy.meets_guarantees, false) as qualifies
    from privacy
    left join intervals on privacy.effort = intervals.effort

),

scored as (

    select
        *,
        qf_mean + alpha * qnf as q,
        {#- A mean over fewer repetitions than others have is a mean over chosen ones. #}
        coalesce(repetitions = max(repetitions) over (), false) as is_complete
    from combined

),

ranked as (

    select
        *,
        {#- At equal Q the stronger privacy wins. #}
        row_number() over (
            partition by qualifies and is_complete and q is not null
            order by q desc, k desc, effort asc
        ) as rank_of_q
    from scored

)

select
    effort,
    k,
    records,
    suppressed_records,
    violating_records,
    repetitions,
    qf_mean,
    qf_sd,
    qf_low,
    qf_high,
    qf_difference,
    qnf,
    alpha,
    q,
    qualifies,
    {%- if release_effort == "auto" %}
    qualifies and is_complete and q is not null and rank_of_q = 1 as is_chosen,
    {%- else %}
    qualifies and effort = {{ release_effort }} as is_chosen,
    {%- endif %}
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(fingerprint)) }} as fingerprint
from ranked
order by effort
{%- endmacro %}
