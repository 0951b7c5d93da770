with

attacked as (

    select
        effort,
        case when max(risk) is not null then greatest(max(risk), 0) end as attack_rate,
        least(min(p_value) * count(p_value), 1) as p_value,
        max(case when attack = 'closest_record' then guesses end) as attacked_people
    from "memory"."main"."measured"
    group by effort

),

limits as (
    select
        'closest_record' as attack,
        0.1 as largest
    union all
    select
        'singling_out' as attack,
        0.05 as largest

),

risks as (

    select
        effort,
        attack,
        max(risk) as risk
    from "memory"."main"."measured"
    group by
        effort,
        attack

),

broken as (

    select
        risks.effort,
        string_agg(
            risks.attack || ' ' || cast(floor((risks.risk) * 1e4 + 0.5) / 1e4 as TEXT) || ' is above its limit '
            || limits.largest,
            ', ' order by risks.attack
        ) as reason
    from risks
    inner join limits on risks.attack = limits.attack
    where risks.risk > limits.largest
    group by risks.effort

),

external_efforts as (
    select
        3 as effort,
        min(class_size) as k,
        count(distinct equivalence_class) as equivalence_classes
    from "memory"."main"."foreign"

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
                        else cast(floor((attacked.p_value) * 1e4 + 0.5) / 1e4 as TEXT)
                    end || ')'
            when coalesce(attacked.attacked_people, 0) < 100
                then
                    'its privacy is not known from ' || coalesce(attacked.attacked_people, 0)
                    || ' outer records, which must be 100 or more'
            else broken.reason
        end as refusal
    from external_efforts
    left join attacked on external_efforts.effort = attacked.effort
    left join broken on external_efforts.effort = broken.effort

),

untouched as (

    select records
    from "memory"."main"."privacy"
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
    cast(null as TEXT) as refusal
from "memory"."main"."privacy" as privacy
left join attacked on privacy.effort = attacked.effort
union all
select
    judged.effort,
    cast(judged.k as bigint) as k,
    cast(judged.equivalence_classes as bigint) as equivalence_classes,
    untouched.records,
    cast(0 as bigint) as suppressed_records,
    cast(0 as bigint) as violating_records,
    judged.refusal is null as meets_guarantees,
    cast(null as TEXT) as broken_guarantees,
    judged.attack_rate,
    judged.refusal
from judged
cross join untouched
order by effort
