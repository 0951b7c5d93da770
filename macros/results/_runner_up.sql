{#
  CTEs that end in `runner_up`: by how much the chosen effort is better than the second of those that the rule chooses
  among, by what the rule compares (`merit`), with the interval of the paired differences of QF; alpha is taken as it
  is. No row where there is no second. `chosen`: CTE of the choice; `split_scores`: CTE with `effort`, `repetition`,
  `fold` and `qf`.
#}
{% macro _runner_up(measure, test_share, folds, confidence, evaluation) -%}
others as (

    select
        chosen_effort,
        effort,
        chosen_merit - merit as q_difference,
        row_number() over (order by merit desc, k desc, effort asc) as place
    from chosen
    where is_eligible and not is_chosen

),

next_best as (

    select *
    from others
    where place = 1

),

beside_next_best as (

    select
        next_best.chosen_effort,
        next_best.effort,
        next_best.q_difference,
        count(*) as splits,
        {{ dbt_anonymize._without_noise("avg(best_scores.qf - next_best_scores.qf)") }} as difference,
        {{ dbt_anonymize._without_noise("stddev_samp(best_scores.qf - next_best_scores.qf)") }} as sd,
        {{ dbt_anonymize._literal(measure) }} as measure
    from next_best
    inner join split_scores as best_scores on next_best.chosen_effort = best_scores.effort
    inner join split_scores as next_best_scores
        on
            next_best.effort = next_best_scores.effort
            and best_scores.repetition = next_best_scores.repetition
            and best_scores.fold = next_best_scores.fold
    group by
        next_best.chosen_effort,
        next_best.effort,
        next_best.q_difference

),

halved as (

    select
        *,
        {{ dbt_anonymize._half_interval("sd", "beside_next_best.splits", test_share, folds, confidence, evaluation)
            | indent(8) }} as half,
        {{ dbt_anonymize._end_of_range("width") | indent(8) }} as width
    from beside_next_best

),

runner_up as (

    select
        chosen_effort,
        effort as runner_up,
        q_difference as q_difference_to_runner_up,
        {%- for limit, sign in [("low", "-"), ("high", "+")] %}
        {%- set difference = dbt_anonymize._clipped("difference " ~ sign ~ " half", "-width", "width") %}
        q_difference - difference
        + {{ difference | indent(8) }} as q_difference_to_runner_up_{{ limit }}{{ "," if not loop.last }}
        {%- endfor %}
    from halved

),
{%- endmacro %}
