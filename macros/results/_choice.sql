{#
  CTEs that end in `chosen`: the rows of `scored` with `is_eligible` (what the rule chooses among), `merit` (what it
  compares), `is_chosen`, and `eligible_efforts`, `chosen_effort`, `chosen_merit`, `chosen_k` and `chosen_q` in every
  row.
#}
{% macro _choice(choose, release_effort) -%}
{%- set double = dbt_anonymize._type_double() %}
{%- if choose == "strongest_non_inferior" %}

{#
  Each test may be wrong. Tests in an order that the scores do not decide, up to the first that fails, are together
  wrong no more often than one (fixed sequence). An effort that lacks a score or does not beat the zero rule fails: to
  skip it, the scores would decide.
-#}
tested as (

    select
        *,
        sum(case when fails then 1 else 0 end) over (
            order by k, effort rows between unbounded preceding and current row
        ) as failed_tests
    from (
        select
            *,
            keeps_guarantees and not (qualifies and coalesce(is_non_inferior, false)) as fails
        from scored
    ) as in_order

),

failed as (

    select
        *,
        {%- for column in ["effort", "k"] %}
        max(case when fails and failed_tests = 1 then {{ column }} end) over () as failed_{{ column }}{{ "," if not loop.last }}
        {%- endfor %}
    from tested

),
{%- endif %}

eligible as (

    select
        *,
        {%- if release_effort != "auto" %}
        keeps_guarantees and effort = {{ release_effort }} as is_eligible,
        {%- elif choose == "strongest_non_inferior" %}
        qualifies and failed_tests = 0 as is_eligible,
        {%- elif choose == "pareto_knee" %}
        qualifies and is_on_frontier as is_eligible,
        {%- else %}
        qualifies as is_eligible,
        {%- endif %}
        {%- if choose == "strongest_non_inferior" %}
        cast(k as {{ double }}) as merit
        {%- elif choose == "pareto_knee" %}
        above_chord as merit
        {%- else %}
        q as merit
        {%- endif %}
    from {{ "failed" if choose == "strongest_non_inferior" else "scored" }}

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
        row_number() over (
            partition by is_eligible
            order by {{ dbt_anonymize._better_first("q desc" if choose == "strongest_non_inferior") }}
        ) as rank_of_merit
    from compared

),

chosen as (

    select
        *,
        is_eligible and rank_of_merit = 1 as is_chosen,
        sum(case when is_eligible then 1 else 0 end) over () as eligible_efforts,
        {%- for column in ["effort", "merit", "k", "q"] %}
        max(case when is_eligible and rank_of_merit = 1 then {{ column }} end) over () as chosen_{{ column }}{{ "," if not loop.last }}
        {%- endfor %}
    from ranked

),
{%- endmacro %}


{# Equal but for the last bits is equal, and then the stronger privacy wins. #}
{% macro _better_first(further=none) -%}
    {{ return(
        "case when merit >= best_merit - 1e-12 * (1 + abs(best_merit)) then 0 else 1 end, k desc, "
        ~ (further ~ ", " if further else "") ~ "effort asc"
    ) }}
{%- endmacro %}


{# Why QF alone keeps an effort from qualifying, or NULL. #}
{% macro _shortfall(measure) -%}
{%- set zero = "'the zero rule, which has ' || " ~ dbt_anonymize._figure("zero_rule", "qf_mean") -%}
case
    when not is_complete
        then
            {{ dbt_anonymize._literal(measure ~ " has a value in ") }} || {{ dbt_anonymize._as_text("repetitions") }}
            || ' of ' || {{ dbt_anonymize._as_text("all_splits") }} || ' splits'
    when beats_zero_rule is null
        then {{ dbt_anonymize._literal(
            "the zero rule lacks " ~ measure ~ " in some split, so nothing says that QF is above it"
        ) }}
    when not beats_zero_rule and zero_rule_difference <= 0
        then 'QF ' || {{ dbt_anonymize._figure("qf_mean", "zero_rule") }} || ' is not above that of ' || {{ zero }}
    when not beats_zero_rule
        then
            'QF ' || {{ dbt_anonymize._figure("qf_mean", "zero_rule") }} || ' is not surely above that of ' || {{ zero }}
            || ': the interval of the difference begins at ' || {{ dbt_anonymize._figure("zero_rule_difference_low", "0") }}
end
{%- endmacro %}


{# Why an effort is chosen, or why not, for the rows of `chosen`. #}
{% macro _reason(choose, measure, release_effort) -%}
{%- set has_rule = release_effort == "auto" -%}
case
    when effort = 0 then 'not chosen: effort 0 is the untouched table'
    when not keeps_guarantees and coalesce(records, 0) = 0 then 'does not qualify: there is no record'
    when not keeps_guarantees and coalesce(violating_records, 0) = 0 then 'does not qualify: no record is released'
    when not keeps_guarantees
        then
            'does not qualify: ' || {{ dbt_anonymize._as_text("violating_records") }} || ' of ' || {{ dbt_anonymize._as_text("records") }}
            || ' records ' || case when violating_records = 1 then 'breaks' else 'break' end || ' a guarantee'
            || coalesce(': ' || broken_guarantees, '')
    {%- if not has_rule %}
    when effort = {{ release_effort }}
        then 'chosen: release.effort is {{ release_effort }}' || coalesce(', although it does not qualify: ' || shortfall, '')
    {%- endif %}
    when not qualifies then 'does not qualify: ' || shortfall
    {%- if not has_rule %}
    else 'not chosen: release.effort is {{ release_effort }}'
    {%- else %}
    {%- if choose == "strongest_non_inferior" %}
    when failed_tests > 0 and effort <> failed_effort
        then
            'not chosen: effort ' || {{ dbt_anonymize._as_text("failed_effort") }} || ' with '
            || case when failed_k < k then 'a smaller k' else 'the same k' end || ' fails, so stronger ones are not tested'
    when is_non_inferior is null and paired_splits < all_splits
        then
            {{ dbt_anonymize._literal("not chosen: " ~ measure ~ " of effort 0 has a value in ") }} || {{ dbt_anonymize._as_text("paired_splits") }}
            || ' of ' || {{ dbt_anonymize._as_text("all_splits") }} || ' splits'
    when is_non_inferior is null
        then 'not chosen: its difference to effort 0 has no confidence limit, which takes {{ dbt_anonymize._fewest_splits() }} splits'
    when not is_non_inferior
        then
            'not chosen: QF may be ' || {{ dbt_anonymize._figure("-qf_difference_limit", "0") }}
            || ' below that of effort 0, which is more than the margin'
    {%- elif choose == "pareto_knee" %}
    when not is_on_frontier then 'not chosen: no alpha makes it best, so it is not on the frontier'
    {%- endif %}
    when is_chosen and eligible_efforts = 1
        then {{ dbt_anonymize._literal("chosen: the only effort that qualifies" ~ {
            "max_q": "",
            "strongest_non_inferior": " and, from the smallest k on, is non-inferior",
            "pareto_knee": " and is on the frontier",
        }[choose]) }}
    {%- if choose == "strongest_non_inferior" %}
    when is_chosen
        then
            'chosen: highest k (' || {{ dbt_anonymize._as_text("k") }} || ') among ' || {{ dbt_anonymize._as_text("eligible_efforts") }}
            || ' efforts that qualify and, from the smallest k on, are non-inferior'
    when k < chosen_k
        then
            'not chosen: k ' || {{ dbt_anonymize._as_text("k") }} || ' is below ' || {{ dbt_anonymize._as_text("chosen_k") }} || ' of effort '
            || {{ dbt_anonymize._as_text("chosen_effort") }}
    when q < chosen_q
        then
            'not chosen: k is ' || {{ dbt_anonymize._as_text("k") }} || ' too, but Q ' || {{ dbt_anonymize._figure("q", "chosen_q") }}
            || ' is below ' || {{ dbt_anonymize._figure("chosen_q", "q") }} || ' of effort ' || {{ dbt_anonymize._as_text("chosen_effort") }}
    {%- elif choose == "pareto_knee" %}
    when is_chosen and vertices = 2
        then 'chosen: highest k (' || {{ dbt_anonymize._as_text("k") }} || ') of a frontier of 2 efforts, which has no knee'
    when is_chosen
        then
            'chosen: the knee, ' || {{ dbt_anonymize._figure("merit") }} || ' above the chord of a frontier of '
            || {{ dbt_anonymize._as_text("vertices") }} || ' efforts'
    when merit < chosen_merit - 1e-12 * (1 + abs(chosen_merit))
        then
            'not chosen: ' || {{ dbt_anonymize._figure("merit", "chosen_merit") }} || ' above the chord of the frontier is below '
            || {{ dbt_anonymize._figure("chosen_merit", "merit") }} || ' of effort ' || {{ dbt_anonymize._as_text("chosen_effort") }}
    {%- else %}
    when is_chosen
        then 'chosen: highest Q among ' || {{ dbt_anonymize._as_text("eligible_efforts") }} || ' efforts that qualify'
    when merit < chosen_merit - 1e-12 * (1 + abs(chosen_merit))
        then
            'not chosen: Q ' || {{ dbt_anonymize._figure("q", "chosen_q") }} || ' is below ' || {{ dbt_anonymize._figure("chosen_q", "q") }}
            || ' of effort ' || {{ dbt_anonymize._as_text("chosen_effort") }}
    {%- endif %}
    when k < chosen_k
        then
            'not chosen: as good as effort ' || {{ dbt_anonymize._as_text("chosen_effort") }} || ', but k ' || {{ dbt_anonymize._as_text("k") }}
            || ' is below ' || {{ dbt_anonymize._as_text("chosen_k") }}
    else 'not chosen: as good as effort ' || {{ dbt_anonymize._as_text("chosen_effort") }} || ', which comes first'
    {%- endif %}
end
{%- endmacro %}


{# A number to four decimals, or to twelve where four do not tell it from `other`. #}
{% macro _figure(number, other=none) -%}
    {%- set short = "floor((" ~ number ~ ") * 1e4 + 0.5) / 1e4" -%}
    {%- if other is none -%}
        {{ return(dbt_anonymize._as_text(short)) }}
    {%- endif -%}
    {{ return(dbt_anonymize._as_text(
        "case when floor((" ~ number ~ ") * 1e4 + 0.5) = floor((" ~ other ~ ") * 1e4 + 0.5) then "
        ~ dbt_anonymize._without_noise(number) ~ " else " ~ short ~ " end"
    )) }}
{%- endmacro %}
