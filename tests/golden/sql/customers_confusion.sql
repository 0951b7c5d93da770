with

counts as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        name as true_class,
        other as predicted_class,
        value as records
    from "shop"."main"."customers_evaluation"
    where kind = 'confusion'

),

evaluated as (

    select distinct
        effort,
        target,
        model,
        fit,
        test_on
    from counts

),

classes as (

    select
        target,
        true_class as class
    from counts
    union
    select
        target,
        predicted_class as class
    from counts

),

confusion as (

    select
        evaluated.effort,
        evaluated.target,
        evaluated.model,
        evaluated.fit,
        evaluated.test_on,
        true_classes.class as true_class,
        predicted_classes.class as predicted_class,
        cast(coalesce(sum(counts.records), 0) as bigint) as records
    from evaluated
    inner join classes as true_classes on evaluated.target = true_classes.target
    inner join classes as predicted_classes on evaluated.target = predicted_classes.target
    left join counts
        on
            evaluated.effort = counts.effort
            and evaluated.target = counts.target
            and evaluated.model = counts.model
            and evaluated.fit = counts.fit
            and evaluated.test_on = counts.test_on
            and true_classes.class = counts.true_class
            and predicted_classes.class = counts.predicted_class
    group by
        evaluated.effort,
        evaluated.target,
        evaluated.model,
        evaluated.fit,
        evaluated.test_on,
        true_classes.class,
        predicted_classes.class

)

select
    *,
    cast(records as double)
    / nullif(sum(records) over (partition by effort, target, model, fit, test_on, true_class), 0) as share
from confusion
order by
    effort,
    target,
    model,
    fit,
    test_on,
    true_class,
    predicted_class
