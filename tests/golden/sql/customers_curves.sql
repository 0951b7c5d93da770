with

counts as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        name as class,
        bin,
        sum(case when other = '1' then value else 0 end) as of_class,
        sum(case when other = '1' then 0 else value end) as of_others
    from "shop"."main"."customers_evaluation"
    where kind = 'probability' and value > 0
    group by
        effort,
        target,
        model,
        fit,
        test_on,
        name,
        bin

),

thresholds as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        class,
        cast(bin as double) / 1000 as threshold,
        sum(of_class) over (
            partition by effort, target, model, fit, test_on, class
            order by bin desc rows between unbounded preceding and current row
        ) as hits,
        sum(of_others) over (
            partition by effort, target, model, fit, test_on, class
            order by bin desc rows between unbounded preceding and current row
        ) as false_alarms,
        sum(of_class) over (partition by effort, target, model, fit, test_on, class) as of_class,
        sum(of_others) over (partition by effort, target, model, fit, test_on, class) as of_others
    from counts
    union all
    select
        effort,
        target,
        model,
        fit,
        test_on,
        class,
        cast(null as double) as threshold,
        0 as hits,
        0 as false_alarms,
        sum(of_class) as of_class,
        sum(of_others) as of_others
    from counts
    group by
        effort,
        target,
        model,
        fit,
        test_on,
        class

),

curves as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        class,
        'precision_recall' as curve,
        threshold,
        hits / nullif(of_class, 0) as x,
        case when threshold is null then 1 else hits / (hits + false_alarms) end as y
    from thresholds
    union all
    select
        effort,
        target,
        model,
        fit,
        test_on,
        class,
        'roc' as curve,
        threshold,
        false_alarms / nullif(of_others, 0) as x,
        hits / nullif(of_class, 0) as y
    from thresholds

)

select
    effort,
    target,
    model,
    fit,
    test_on,
    class,
    curve,
    threshold,
    x,
    y
from curves
order by
    effort,
    target,
    model,
    fit,
    test_on,
    class,
    curve,
    case when threshold is null then 0 else 1 end,
    -threshold
