{# Why QF alone keeps an effort from qualifying, or NULL. #}
{% macro _shortfall(measure) -%}
{%- set qf, zero = dbt_anonymize._figure("qf_mean", "zero_rule"), dbt_anonymize._figure("zero_rule", "qf_mean") -%}
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
        then
            'QF ' || {{ qf }}
            || ' is not above that of the zero rule, which has ' || {{ zero }}
    when not beats_zero_rule
        then
            'QF ' || {{ qf }}
            || ' is not surely above that of the zero rule, which has ' || {{ zero }}
            || ': the interval of the difference begins at '
            || {{ dbt_anonymize._figure("zero_rule_difference_low", "0") }}
end
{%- endmacro %}


{# Why an effort is chosen, or why not, for the rows of `chosen`. #}
{% macro _reason(choose, measure, release_effort, has_refusals=false) -%}
case
    when effort = 0 then 'not chosen: effort 0 is the untouched table'
    {%- if has_refusals %}
    when refusal is not null then 'does not qualify: ' || refusal
    {%- endif %}
    when not keeps_guarantees and coalesce(records, 0) = 0 then 'does not qualify: there is no record'
    when not keeps_guarantees and coalesce(violating_records, 0) = 0 then 'does not qualify: no record is released'
    when not keeps_guarantees
        then
            'does not qualify: ' || {{ dbt_anonymize._as_text("violating_records") }}
            || ' of ' || {{ dbt_anonymize._as_text("records") }}
            || ' records ' || case when violating_records = 1 then 'breaks' else 'break' end || ' a guarantee'
            || coalesce(': ' || broken_guarantees, '')
    {%- if release_effort != "auto" %}
    when effort = {{ release_effort }}
        then
            'chosen: release.effort is {{ release_effort }}'
            || coalesce(', although it does not qualify: ' || shortfall, '')
    when not qualifies then 'does not qualify: ' || shortfall
    else 'not chosen: release.effort is {{ release_effort }}'
    {%- else %}
    when not qualifies then 'does not qualify: ' || shortfall
    {{ dbt_anonymize._reasons_of_ineligible(choose, measure) }}
    {{ dbt_anonymize._reasons_of_merit(choose) }}
    when is_undetermined and qf_mean < chosen_qf
        then
            'not chosen: at the break point Q is that of effort ' || {{ dbt_anonymize._as_text("chosen_effort") }}
            || ' by construction, and QF ' || {{ dbt_anonymize._figure("qf_mean", "chosen_qf") }}
            || ' is below ' || {{ dbt_anonymize._figure("chosen_qf", "qf_mean") }}
    when k < chosen_k
        then
            'not chosen: as good as effort ' || {{ dbt_anonymize._as_text("chosen_effort") }}
            || ', but k ' || {{ dbt_anonymize._as_text("k") }}
            || ' is below ' || {{ dbt_anonymize._as_text("chosen_k") }}
    else
        'not chosen: as good as effort ' || {{ dbt_anonymize._as_text("chosen_effort") }} || ', which comes first'
    {%- endif %}
end
{%- endmacro %}


{# Why the rule does not choose among an effort that qualifies, and what is chosen where it is the only one. #}
{% macro _reasons_of_ineligible(choose, measure) -%}
    {%- if choose == "strongest_non_inferior" -%}
    when failed_tests > 0 and effort <> failed_effort
        then
            'not chosen: effort ' || {{ dbt_anonymize._as_text("failed_effort") }}
            || ' with ' || case when failed_k < k then 'a smaller k' else 'the same k' end
            || ' fails, so stronger ones are not tested'
    when is_non_inferior is null and paired_splits < all_splits
        then
            {{ dbt_anonymize._literal("not chosen: " ~ measure ~ " of effort 0 has a value in ") }}
            || {{ dbt_anonymize._as_text("paired_splits") }}
            || ' of ' || {{ dbt_anonymize._as_text("all_splits") }} || ' splits'
    when is_non_inferior is null
        then
            'not chosen: its difference to effort 0 has no confidence limit, which takes '
            || '{{ dbt_anonymize._fewest_splits() }} splits'
    when not is_non_inferior
        then
            'not chosen: QF may be ' || {{ dbt_anonymize._figure("-qf_difference_limit", "0") }}
            || ' below that of effort 0, which is more than the margin'
    {% elif choose == "pareto_knee" -%}
    when not is_on_frontier then 'not chosen: no alpha makes it best, so it is not on the frontier'
    {% endif -%}
    when is_chosen and eligible_efforts = 1
        then {{ dbt_anonymize._literal("chosen: the only effort that qualifies" ~ {
            "max_q": "",
            "strongest_non_inferior": " and, from the smallest k on, is non-inferior",
            "pareto_knee": " and is on the frontier",
        }[choose]) }}
{%- endmacro %}


{# Why what the rule compares is best, or by how much it is not. #}
{% macro _reasons_of_merit(choose) -%}
    {%- set of_effort = "' of effort ' || " ~ dbt_anonymize._as_text("chosen_effort") -%}
    {%- set k = dbt_anonymize._as_text("k") -%}
    {%- set among = dbt_anonymize._as_text("eligible_efforts") -%}
    {%- set undetermined -%}
    when is_chosen and is_undetermined
        then
            'chosen: highest QF of a frontier of 2 efforts, whose Q is the same at their break point, alpha '
            || {{ dbt_anonymize._figure("break_point") }}
    {%- endset -%}
    {%- if choose == "strongest_non_inferior" -%}
    when is_chosen
        then
            'chosen: highest k (' || {{ k }} || ') among ' || {{ among }}
            || ' efforts that qualify and, from the smallest k on, are non-inferior'
    when k < chosen_k
        then
            'not chosen: k ' || {{ k }} || ' is below ' || {{ dbt_anonymize._as_text("chosen_k") }} || {{ of_effort }}
    when q < chosen_q
        then
            'not chosen: k is ' || {{ k }} || ' too, but Q ' || {{ dbt_anonymize._figure("q", "chosen_q") }}
            || ' is below ' || {{ dbt_anonymize._figure("chosen_q", "q") }} || {{ of_effort }}
    {%- elif choose == "pareto_knee" -%}
    {{ undetermined }}
    when is_chosen
        then
            'chosen: the knee, ' || {{ dbt_anonymize._figure("merit") }} || ' above the chord of a frontier of '
            || {{ dbt_anonymize._as_text("vertices") }} || ' efforts'
    when merit < chosen_merit - 1e-12 * (1 + abs(chosen_merit))
        then
            'not chosen: ' || {{ dbt_anonymize._figure("merit", "chosen_merit") }}
            || ' above the chord of the frontier is below '
            || {{ dbt_anonymize._figure("chosen_merit", "merit") }} || {{ of_effort }}
    {%- else -%}
    {{ undetermined }}
    when is_chosen
        then 'chosen: highest Q among ' || {{ among }} || ' efforts that qualify'
    when merit < chosen_merit - 1e-12 * (1 + abs(chosen_merit))
        then
            'not chosen: Q ' || {{ dbt_anonymize._figure("q", "chosen_q") }}
            || ' is below ' || {{ dbt_anonymize._figure("chosen_q", "q") }} || {{ of_effort }}
    {%- endif -%}
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
