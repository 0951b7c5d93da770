{#
  CTEs that end in `shares`: how often each effort of `candidates` (`effort`, `k`, `qf_mean`, `qnf`) is chosen when the
  splits are drawn again from those that there are, with replacement (a bootstrap). Drawn are whole repetitions, since
  the folds of one test each record once; of a single repetition, its folds. Too few of them give no rows.
  `split_scores`: CTE with `effort`, `repetition`, `fold` and `qf` of the splits with a score. `alpha`: a number, or
  `auto` for that of the chord.
#}
{% macro _choice_share(alpha, random_state) -%}
drawable as (

    select
        split_scores.effort,
        split_scores.qf,
        case
            when min(split_scores.repetition) over () = max(split_scores.repetition) over () then split_scores.fold
            else split_scores.repetition
        end as unit
    from split_scores
    inner join candidates on split_scores.effort = candidates.effort

),

unit_scores as (

    select
        effort,
        unit,
        sum(qf) as qf,
        count(*) as splits
    from drawable
    group by
        effort,
        unit

),

{{ dbt_anonymize._drawn_units(random_state) }}

resampled as (

    select
        drawn.resample,
        unit_scores.effort,
        sum(drawn.times * unit_scores.qf) / sum(drawn.times * unit_scores.splits) as qf_mean
    from drawn
    inner join unit_scores on drawn.unit = unit_scores.unit
    group by
        drawn.resample,
        unit_scores.effort

),

redrawn as (

    select
        resampled.resample,
        candidates.effort,
        candidates.k,
        candidates.qnf,
        {{ dbt_anonymize._without_noise("resampled.qf_mean") }} as qf_mean
    from resampled
    inner join candidates on resampled.effort = candidates.effort

),
{%- if alpha == "auto" %}

chords as (

    {{ dbt_anonymize._chord("redrawn", by="resample") | indent(4) }}

),

merits as (

    select
        redrawn.*,
        {#- The ends of the chord tie; where nothing is above it, QF decides. #}
        case when chords.chord_alpha > 0 then redrawn.qf_mean end as qf_of_ties,
        redrawn.qf_mean + chords.chord_alpha * redrawn.qnf as merit
    from redrawn
    inner join chords on redrawn.resample = chords.resample

),
{%- else %}

merits as (

    select
        *,
        qf_mean + cast({{ alpha }} as {{ dbt_anonymize._type_double() }}) * qnf as merit
    from redrawn

),
{%- endif %}

compared_merits as (

    select
        *,
        max(merit) over (partition by resample) as best_merit
    from merits

),

ranked_merits as (

    select
        effort,
        row_number() over (
            partition by resample
            order by {{ dbt_anonymize._better_first(none, "qf_of_ties desc" if alpha == "auto") }}
        ) as rank_of_merit
    from compared_merits

),

shares as (

    select
        effort,
        cast(sum(case when rank_of_merit = 1 then 1 else 0 end) as {{ dbt_anonymize._type_double() }})
        / count(*) as choice_share
    from ranked_merits
    group by effort

),
{%- endmacro %}


{#
  CTEs that end in `drawn`: how many `times` each resample draws a unit. Numbers that look random and are the same on
  every engine: x -> x^5 permutes the residues of the prime (5 does not divide 2147483646), twice, with the random state
  in between. No product exceeds 2^62.
#}
{% macro _drawn_units(random_state) -%}
{%- set prime = 2147483647 -%}
{%- set resample = "cast(resamples.generated_number as " ~ dbt.type_bigint() ~ ")" -%}
units as (

    select
        unit,
        row_number() over (order by unit) - 1 as place,
        count(*) over () as units
    from (select distinct unit from drawable) as found

),

resamples as (

    {{ dbt.generate_series(dbt_anonymize._resamples()).split() | join(" ") }}

),

numbered as (

    select
        {{ resample }} as resample,
        units.units,
        (({{ resample }} * units.units + units.place) * 48271 + 11) % {{ prime }} as number
    from resamples
    cross join units
    where units.units >= {{ dbt_anonymize._fewest_splits() }}

),

scrambled_once as (

    select
        resample,
        units,
        ({{ dbt_anonymize._fifth_power("number", prime) }} + {{ random_state % prime }}) % {{ prime }} as number
    from numbered

),

scrambled as (

    select
        resample,
        {{ dbt_anonymize._fifth_power("number", prime) }} % units as place
    from scrambled_once

),

drawn as (

    select
        scrambled.resample,
        units.unit,
        count(*) as times
    from scrambled
    inner join units on scrambled.place = units.place
    group by
        scrambled.resample,
        units.unit

),
{%- endmacro %}


{# So many that a share of one half is known to 1.6 points. #}
{% macro _resamples() -%}
    {{ return(1000) }}
{%- endmacro %}


{% macro _fifth_power(number, prime) -%}
    {%- set square = "((" ~ number ~ " * " ~ number ~ ") % " ~ prime ~ ")" -%}
    {{ return("(" ~ square ~ " * " ~ square ~ " % " ~ prime ~ ") * " ~ number ~ " % " ~ prime) }}
{%- endmacro %}
