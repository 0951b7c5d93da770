select
    effort,
    target,
    model,
    fit,
    repetition,
    fold,
    test_on,
    case when kind = 'measure' then name end as measure,
    other as class,
    nullif(cast(value as double), cast('NaN' as double)) as value,
    case when kind = 'failure' then name end as reason
from "shop"."main"."customers_evaluation"
where kind in ('measure', 'failure')
