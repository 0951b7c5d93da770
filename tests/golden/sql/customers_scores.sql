select
    effort,
    target,
    model,
    fit,
    repetition,
    fold,
    test_on,
    name as measure,
    other as class,
    nullif(cast(value as double), cast('NaN' as double)) as value
from "shop"."main"."customers_evaluation"
where kind = 'measure'
