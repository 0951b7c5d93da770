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
    case
        when abs(cast(value as double)) < cast('Infinity' as double) then cast(value as double)
    end as value,
    case when kind = 'failure' then name end as reason
from "shop"."main"."customers_evaluation"
where kind in ('measure', 'failure')
