{#
  CTEs that end in `chosen`: the rows of `scored` with `is_eligible` (what the rule chooses among), `merit` (what it
  compares), `is_chosen`, and in every row `eligible_efforts`, `chosen_effort`, `chosen_merit`, `chosen_k`, `chosen_q`,
  `chosen_qf`; `is_undetermined`: the rule compares at the slope of the chord, at which the ends of a frontier of two
  tie by construction, so QF decides; `break_point` is that alpha.
#}
{% macro _choice(choose, release_effort, alpha) -%}
{%- set is_sequential = choose == "strongest_non_inferior" -%}
{%- set is_by_chord = choose == "pareto_knee" or (choose == "max_q" and alpha == "auto") -%}
{%- if is_sequential -%}
{{ dbt_anonymize._tested_in_order() }}

{% endif -%}
eligible as (

    select
        *,
        {{ "vertices = 2" if is_by_chord and release_effort == "auto" else "1 = 0" }} as is_undetermined,
        max(alpha_from) over () as break_point,
        {%- if release_effort != "auto" %}
        keeps_guarantees and effort = {{ release_effort }} as is_eligible,
        {%- elif is_sequential %}
        qualifies and failed_tests = 0 as is_eligible,
        {%- elif choose == "pareto_knee" %}
        qualifies and is_on_frontier as is_eligible,
        {%- else %}
        qualifies as is_eligible,
        {%- endif %}
        {%- if is_sequential %}
        cast(k as {{ dbt_anonymize._type_double() }}) as merit
        {%- elif choose == "pareto_knee" %}
        above_chord as merit
        {%- else %}
        q as merit
        {%- endif %}
    from {{ "failed" if is_sequential else "scored" }}

),

compared as (

    select
        *,
        max(case when is_eligible then merit end) over () as best_merit
    from eligible

),

ranked as (

    select
        *,
        is_eligible and row_number() over (
            partition by is_eligible
            order by {{ dbt_anonymize._better_first(
                "q desc" if is_sequential, "case when is_undetermined then qf_mean end desc"
            ) }}
        ) = 1 as is_chosen
    from compared

),

chosen as (

    select
        *,
        sum(case when is_eligible then 1 else 0 end) over () as eligible_efforts,
        max(case when is_chosen then effort end) over () as chosen_effort,
        max(case when is_chosen then merit end) over () as chosen_merit,
        max(case when is_chosen then k end) over () as chosen_k,
        max(case when is_chosen then q end) over () as chosen_q,
        max(case when is_chosen then qf_mean end) over () as chosen_qf
    from ranked

),
{%- endmacro %}


{#
  CTEs that end in `failed`. Each test may be wrong. Tests in an order that the scores do not decide, up to the first
  that fails, are together wrong no more often than one (fixed sequence). An effort that lacks a score or does not beat
  the zero rule fails: to skip it, the scores would decide.
#}
{% macro _tested_in_order() -%}
in_order as (

    select
        *,
        keeps_guarantees and not (qualifies and coalesce(is_non_inferior, false)) as fails
    from scored

),

tested as (

    select
        *,
        sum(case when fails then 1 else 0 end) over (
            order by k, effort rows between unbounded preceding and current row
        ) as failed_tests
    from in_order

),

failed as (

    select
        *,
        max(case when fails and failed_tests = 1 then effort end) over () as failed_effort,
        max(case when fails and failed_tests = 1 then k end) over () as failed_k
    from tested

),
{%- endmacro %}


{# Equal but for the last bits is equal, and then what comes `first`, then the stronger privacy wins. #}
{% macro _better_first(further=none, first=none) -%}
    {{ return(
        "case when merit >= best_merit - 1e-12 * (1 + abs(best_merit)) then 0 else 1 end, "
        ~ (first ~ ", " if first else "") ~ "k desc, "
        ~ (further ~ ", " if further else "") ~ "effort asc"
    ) }}
{%- endmacro %}
