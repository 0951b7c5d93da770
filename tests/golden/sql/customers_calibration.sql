with

predicted as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        name as class,
        other,
        cast(bin as double) as thousandths,
        least(floor(cast(bin as double) / 100), 9) as tenth,
        value as records
    from "shop"."main"."customers_evaluation"
    where kind = 'probability'

)

select
    effort,
    target,
    model,
    fit,
    test_on,
    class,
    tenth / 10 as bin_from,
    (tenth + 1) / 10 as bin_to,
    cast(sum(records) as bigint) as records,
    sum(thousandths * records) / (1000 * sum(records)) as mean_probability,
    sum(case when other = '1' then records else 0 end) / sum(records) as observed_share
from predicted
where records > 0
group by
    effort,
    target,
    model,
    fit,
    test_on,
    class,
    tenth
order by
    effort,
    target,
    model,
    fit,
    test_on,
    class,
    tenth
