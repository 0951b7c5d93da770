{% macro compared_privacy(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["privacy", "measured", "efforts"], {"limits": none}) -%}
{{ config(materialized="table") }}
{%- set bigint = dbt.type_bigint() -%}
with

attacked as (

    select
        effort,
        {#- `greatest` of NULL and 0 is 0. #}
        case when max(risk) is not null then greatest(max(risk), 0) end as attack_rate,
        {#- Of several tests (Bonferroni). #}
        least(min(p_value) * count(p_value), 1) as p_value,
        max(case when attack = 'closest_record' then guesses end) as attacked_people
    from {{ given.measured }}
    group by effort

),
{{- dbt_anonymize._judged_external(given) }}

untouched as (

    select records
    from {{ given.privacy }}
    where effort = 0

)

select
    privacy.effort,
    privacy.k,
    privacy.equivalence_classes,
    privacy.records,
    privacy.suppressed_records,
    privacy.violating_records,
    privacy.meets_guarantees,
    privacy.broken_guarantees,
    attacked.attack_rate,
    cast(null as {{ dbt.type_string() }}) as refusal
from {{ given.privacy }} as privacy
left join attacked on privacy.effort = attacked.effort
union all
select
    judged.effort,
    cast(judged.k as {{ bigint }}) as k,
    cast(judged.equivalence_classes as {{ bigint }}) as equivalence_classes,
    untouched.records,
    cast(0 as {{ bigint }}) as suppressed_records,
    cast(0 as {{ bigint }}) as violating_records,
    judged.refusal is null as meets_guarantees,
    cast(null as {{ dbt.type_string() }}) as broken_guarantees,
    judged.attack_rate,
    judged.refusal
from judged
cross join untouched
order by effort
{%- endmacro %}


{# CTEs that end in `judged`: the tables of other tools with why they must not be released, if there is a reason. #}
{% macro _judged_external(given) -%}
{#- With fewer people, the interval of a rate is wider than 0.2. -#}
{%- set least = 100 -%}
{%- if given.limits %}

limits as (

    {%- for attack, limit in given.limits.items() %}
    select
        {{ dbt_anonymize._literal(attack) }} as attack,
        {{ limit }} as largest
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

risks as (

    select
        effort,
        attack,
        max(risk) as risk
    from {{ given.measured }}
    group by
        effort,
        attack

),

broken as (

    select
        risks.effort,
        string_agg(
            risks.attack || ' ' || {{ dbt_anonymize._figure("risks.risk") }} || ' is above its limit '
            || limits.largest,
            ', ' order by risks.attack
        ) as reason
    from risks
    inner join limits on risks.attack = limits.attack
    where risks.risk > limits.largest
    group by risks.effort

),
{%- endif %}

external_efforts as (

    {%- for number, relation in given.efforts.items() %}
    select
        {{ number }} as effort,
        min(class_size) as k,
        count(distinct equivalence_class) as equivalence_classes
    from {{ relation }}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

judged as (

    select
        external_efforts.*,
        attacked.attack_rate,
        case
            when attacked.p_value < 0.01
                then
                    'its rows equal or resemble outer records too often, so the tool has seen them (p '
                    || case
                        when attacked.p_value < 0.0001 then '< 0.0001'
                        else {{ dbt_anonymize._figure("attacked.p_value") }}
                    end || ')'
            when coalesce(attacked.attacked_people, 0) < {{ least }}
                then
                    'its privacy is not known from ' || coalesce(attacked.attacked_people, 0)
                    || ' outer records, which must be {{ least }} or more'
            {%- if given.limits %}
            else broken.reason
            {%- else %}
            else 'no measured_limits are declared, so it only competes'
            {%- endif %}
        end as refusal
    from external_efforts
    left join attacked on external_efforts.effort = attacked.effort
    {%- if given.limits %}
    left join broken on external_efforts.effort = broken.effort
    {%- endif %}

),
{%- endmacro %}
