with

efforts as (

    select 0 as effort
    union all
    select 1 as effort
    union all
    select 2 as effort
    union all
    select 3 as effort

),

sizes as (

    select
        effort,
        class_size,
        sum(records) as records
    from "shop"."main"."customers_classes"
    where not is_suppressed
    group by effort, class_size

),

intervals as (

    select
        1 as smallest_size,
        1 as largest_size,
        cast(1 as double) / 2 as risk_from,
        cast(1 as double) / 1 as risk_to

    union all

    select
        2 as smallest_size,
        2 as largest_size,
        cast(1 as double) / 3 as risk_from,
        cast(1 as double) / 2 as risk_to

    union all

    select
        3 as smallest_size,
        3 as largest_size,
        cast(1 as double) / 4 as risk_from,
        cast(1 as double) / 3 as risk_to

    union all

    select
        4 as smallest_size,
        4 as largest_size,
        cast(1 as double) / 5 as risk_from,
        cast(1 as double) / 4 as risk_to

    union all

    select
        5 as smallest_size,
        9 as largest_size,
        cast(1 as double) / 10 as risk_from,
        cast(1 as double) / 5 as risk_to

    union all

    select
        10 as smallest_size,
        10 as largest_size,
        cast(1 as double) / 11 as risk_from,
        cast(1 as double) / 10 as risk_to

    union all

    select
        11 as smallest_size,
        19 as largest_size,
        cast(1 as double) / 20 as risk_from,
        cast(1 as double) / 11 as risk_to

    union all

    select
        20 as smallest_size,
        49 as largest_size,
        cast(1 as double) / 50 as risk_from,
        cast(1 as double) / 20 as risk_to

    union all

    select
        50 as smallest_size,
        99 as largest_size,
        cast(1 as double) / 100 as risk_from,
        cast(1 as double) / 50 as risk_to

    union all

    select
        100 as smallest_size,
        999 as largest_size,
        cast(1 as double) / 1000 as risk_from,
        cast(1 as double) / 100 as risk_to

    union all

    select
        1000 as smallest_size,
        cast(null as integer) as largest_size,
        cast(0 as double) as risk_from,
        cast(1 as double) / 1000 as risk_to

),

counted as (

    select
        efforts.effort,
        intervals.risk_from,
        intervals.risk_to,
        cast(coalesce(sum(sizes.records), 0) as double) as records
    from efforts
    cross join intervals
    left join sizes
        on
            efforts.effort = sizes.effort
            and intervals.smallest_size <= sizes.class_size
            and (intervals.largest_size >= sizes.class_size or intervals.largest_size is null)
    group by efforts.effort, intervals.risk_from, intervals.risk_to

),

shares as (

    select
        effort,
        risk_from,
        risk_to,
        records / nullif(sum(records) over (partition by effort), 0) as records_share,
        sum(records) over (partition by effort order by risk_to rows between unbounded preceding and current row)
        / nullif(sum(records) over (partition by effort), 0) as cumulative_share
    from counted

)

select
    effort,
    risk_from,
    risk_to,
    records_share,
    cumulative_share
from shares
order by effort, risk_to
