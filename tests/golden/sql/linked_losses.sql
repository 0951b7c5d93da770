with

counted as (

    select
        1 as effort,
        cast('stays' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_stays") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_1"
    where linked_table = 'stays'
    union all

    select
        1 as effort,
        cast('results' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_results") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_1"
    where linked_table = 'results'
    union all

    select
        2 as effort,
        cast('stays' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_stays") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_2"
    where linked_table = 'stays'
    union all

    select
        2 as effort,
        cast('results' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_results") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_2"
    where linked_table = 'results'
    union all

    select
        3 as effort,
        cast('stays' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_stays") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_3"
    where linked_table = 'stays'
    union all

    select
        3 as effort,
        cast('results' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_results") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_3"
    where linked_table = 'results'
    union all

    select
        4 as effort,
        cast('stays' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_stays") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_4"
    where linked_table = 'stays'
    union all

    select
        4 as effort,
        cast('results' as TEXT) as linked_table,
        (select count(*) from "shop"."main"."hospital_linked_table_results") as records,
        count(case when status = 'hidden' then 1 end) as hidden_records,
        count(case when status <> 'left out' then 1 end) as released_records,
        0.3 as largest_share
    from "shop"."main"."hospital_linked_decisions_4"
    where linked_table = 'results'

)

select
    effort,
    linked_table,
    cast(records as bigint) as records,
    cast(hidden_records as bigint) as hidden_records,
    cast(records - released_records as bigint) as left_out_records,
    case
        when records > 0
            then
                cast(records - released_records + hidden_records as double)
                / cast(records as double)
        else cast(0 as double)
    end as lost_share,
    cast(largest_share as double) as largest_share
from counted
order by
    effort,
    linked_table
