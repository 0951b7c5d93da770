with

shares_stays_1 as (

    select
        leaf,
        max(share_0) as share_0,
        max(share_1) as share_1,
        max(share_2) as share_2
    from (
        select
            cast(value as TEXT) as leaf,
            cast(1 as double) / count(*) over () as share_0,
            case
                when cast(level_1 as TEXT) = '*' then 1
                else
                    cast(count(*) over (partition by level_1) as double) / count(*) over ()
            end as share_1,
            case
                when cast(level_2 as TEXT) = '*' then 1
                else
                    cast(count(*) over (partition by level_2) as double) / count(*) over ()
            end as share_2
        from "shop"."main"."clinic_wards"
    ) as leaves
    group by leaf

),

shares_stays_2 as (

    select
        leaf,
        max(share_0) as share_0,
        max(share_1) as share_1,
        max(share_2) as share_2,
        max(share_3) as share_3
    from (
        select
            lower_bound as leaf,
            cast(0 as double) as share_0,
            case
                when cast(level_1 as TEXT) = '*' then 1
                else
                    cast(max(upper_bound) over (partition by level_1) - min(lower_bound) over (partition by level_1) as double)
                    / cast(max(upper_bound) over () - min(lower_bound) over () as double)
            end as share_1,
            case
                when cast(level_2 as TEXT) = '*' then 1
                else
                    cast(max(upper_bound) over (partition by level_2) - min(lower_bound) over (partition by level_2) as double)
                    / cast(max(upper_bound) over () - min(lower_bound) over () as double)
            end as share_2,
            case
                when cast(level_3 as TEXT) = '*' then 1
                else
                    cast(max(upper_bound) over (partition by level_3) - min(lower_bound) over (partition by level_3) as double)
                    / cast(max(upper_bound) over () - min(lower_bound) over () as double)
            end as share_3
        from "shop"."main"."clinic_months"
    ) as leaves
    group by leaf

),

labelled_stays as (

    select
        1 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_2
                else shares_1.share_1
            end,
            cast(1 as double)
        ) as "ward_share",
        coalesce(
            case
                when decided.status = 'raised' then shares_2.share_3
                else shares_2.share_3
            end,
            cast(1 as double)
        ) as "month_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_stays" as listed
    left join "shop"."main"."hospital_linked_decisions_1" as decided
        on
            cast(listed."stay_id" as TEXT) = decided.record
            and decided.linked_table = 'stays'
    left join shares_stays_1 as shares_1
        on listed."ward_leaf" = shares_1.leaf
    left join shares_stays_2 as shares_2
        on listed."month_leaf" = shares_2.leaf
    union all

    select
        2 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_2
                else shares_1.share_2
            end,
            cast(1 as double)
        ) as "ward_share",
        coalesce(
            case
                when decided.status = 'raised' then shares_2.share_3
                else shares_2.share_3
            end,
            cast(1 as double)
        ) as "month_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_stays" as listed
    left join "shop"."main"."hospital_linked_decisions_2" as decided
        on
            cast(listed."stay_id" as TEXT) = decided.record
            and decided.linked_table = 'stays'
    left join shares_stays_1 as shares_1
        on listed."ward_leaf" = shares_1.leaf
    left join shares_stays_2 as shares_2
        on listed."month_leaf" = shares_2.leaf
    union all

    select
        3 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_2
                else shares_1.share_1
            end,
            cast(1 as double)
        ) as "ward_share",
        coalesce(
            case
                when decided.status = 'raised' then shares_2.share_3
                else shares_2.share_2
            end,
            cast(1 as double)
        ) as "month_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_stays" as listed
    left join "shop"."main"."hospital_linked_decisions_3" as decided
        on
            cast(listed."stay_id" as TEXT) = decided.record
            and decided.linked_table = 'stays'
    left join shares_stays_1 as shares_1
        on listed."ward_leaf" = shares_1.leaf
    left join shares_stays_2 as shares_2
        on listed."month_leaf" = shares_2.leaf
    union all

    select
        4 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_1
                else shares_1.share_0
            end,
            cast(1 as double)
        ) as "ward_share",
        coalesce(
            case
                when decided.status = 'raised' then shares_2.share_1
                else shares_2.share_0
            end,
            cast(1 as double)
        ) as "month_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_stays" as listed
    left join "shop"."main"."hospital_linked_decisions_4" as decided
        on
            cast(listed."stay_id" as TEXT) = decided.record
            and decided.linked_table = 'stays'
    left join shares_stays_1 as shares_1
        on listed."ward_leaf" = shares_1.leaf
    left join shares_stays_2 as shares_2
        on listed."month_leaf" = shares_2.leaf

),

classes_stays as (

    select
        effort,
        status,
        "ward_share",
        "month_share",
        status in ('hidden', 'left out') as is_suppressed,
        count(*) as records
    from labelled_stays
    group by
        effort,
        status,
        "ward_share",
        "month_share"

),

loss_stays as (

    with

    smallest_shares as (

        select
            (select cast(1 as double) / count(*) from "shop"."main"."clinic_wards") as smallest_1,
            cast(0 as double) as smallest_2

    ),

    sums as (

        select
            effort,
            sum(case
                when is_suppressed then records
                else records * "ward_share"
            end) as lost_1,
            sum(case
                when is_suppressed then records
                else records * "month_share"
            end) as lost_2,
            cast(sum(records) as double) as records
        from classes_stays
        group by effort

    ),

    losses as (

        select
            sums.effort,
            case
                when sums.lost_1 <= sums.records * smallest_shares.smallest_1 then 0
                else (sums.lost_1 - sums.records * smallest_shares.smallest_1) / (sums.records - sums.records * smallest_shares.smallest_1)
            end as loss_1,
            case
                when sums.lost_2 <= sums.records * smallest_shares.smallest_2 then 0
                else (sums.lost_2 - sums.records * smallest_shares.smallest_2) / (sums.records - sums.records * smallest_shares.smallest_2)
            end as loss_2
        from sums
        cross join smallest_shares

    )

    select
        effort,
        floor((loss_1) * 1e12 + 0.5) / 1e12 as "ward_loss",
        floor((loss_2) * 1e12 + 0.5) / 1e12 as "month_loss",
        floor((power((1 + loss_1) * (1 + loss_2), cast(1 as double) / 2) - 1) * 1e12 + 0.5) / 1e12 as loss
    from losses

),

shares_results_1 as (

    select
        leaf,
        max(share_0) as share_0,
        max(share_1) as share_1,
        max(share_2) as share_2
    from (
        select
            cast(value as TEXT) as leaf,
            cast(1 as double) / count(*) over () as share_0,
            case
                when cast(level_1 as TEXT) = '*' then 1
                else
                    cast(count(*) over (partition by level_1) as double) / count(*) over ()
            end as share_1,
            case
                when cast(level_2 as TEXT) = '*' then 1
                else
                    cast(count(*) over (partition by level_2) as double) / count(*) over ()
            end as share_2
        from "shop"."main"."clinic_tests"
    ) as leaves
    group by leaf

),

labelled_results as (

    select
        1 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_2
                else shares_1.share_1
            end,
            cast(1 as double)
        ) as "test_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_results" as listed
    left join "shop"."main"."hospital_linked_decisions_1" as decided
        on
            cast(listed."result_id" as TEXT) = decided.record
            and decided.linked_table = 'results'
    left join shares_results_1 as shares_1
        on listed."test_leaf" = shares_1.leaf
    union all

    select
        2 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_2
                else shares_1.share_1
            end,
            cast(1 as double)
        ) as "test_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_results" as listed
    left join "shop"."main"."hospital_linked_decisions_2" as decided
        on
            cast(listed."result_id" as TEXT) = decided.record
            and decided.linked_table = 'results'
    left join shares_results_1 as shares_1
        on listed."test_leaf" = shares_1.leaf
    union all

    select
        3 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_2
                else shares_1.share_2
            end,
            cast(1 as double)
        ) as "test_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_results" as listed
    left join "shop"."main"."hospital_linked_decisions_3" as decided
        on
            cast(listed."result_id" as TEXT) = decided.record
            and decided.linked_table = 'results'
    left join shares_results_1 as shares_1
        on listed."test_leaf" = shares_1.leaf
    union all

    select
        4 as effort,
        coalesce(
            case
                when decided.status = 'raised' then shares_1.share_1
                else shares_1.share_0
            end,
            cast(1 as double)
        ) as "test_share",
        coalesce(decided.status, 'left out') as status
    from "shop"."main"."hospital_linked_table_results" as listed
    left join "shop"."main"."hospital_linked_decisions_4" as decided
        on
            cast(listed."result_id" as TEXT) = decided.record
            and decided.linked_table = 'results'
    left join shares_results_1 as shares_1
        on listed."test_leaf" = shares_1.leaf

),

classes_results as (

    select
        effort,
        status,
        "test_share",
        status in ('hidden', 'left out') as is_suppressed,
        count(*) as records
    from labelled_results
    group by
        effort,
        status,
        "test_share"

),

loss_results as (

    with

    smallest_shares as (

        select (select cast(1 as double) / count(*) from "shop"."main"."clinic_tests") as smallest_1

    ),

    sums as (

        select
            effort,
            sum(case
                when is_suppressed then records
                else records * "test_share"
            end) as lost_1,
            cast(sum(records) as double) as records
        from classes_results
        group by effort

    ),

    losses as (

        select
            sums.effort,
            case
                when sums.lost_1 <= sums.records * smallest_shares.smallest_1 then 0
                else (sums.lost_1 - sums.records * smallest_shares.smallest_1) / (sums.records - sums.records * smallest_shares.smallest_1)
            end as loss_1
        from sums
        cross join smallest_shares

    )

    select
        effort,
        floor((loss_1) * 1e12 + 0.5) / 1e12 as "test_loss",
        floor((power((1 + loss_1), cast(1 as double) / 1) - 1) * 1e12 + 0.5) / 1e12 as loss
    from losses

),

counted as (

    select
        effort,
        cast('stays' as TEXT) as linked_table,
        case effort
            when 1 then 'ward 1, month 3'
            when 2 then 'ward 2, month 3'
            when 3 then 'ward 1, month 2'
            when 4 then 'ward 0, month 0'
        end as levels,
        sum(records) as records,
        sum(case when status = 'raised' then records else 0 end) as raised_records,
        sum(case when status = 'hidden' then records else 0 end) as hidden_records,
        sum(case when status = 'left out' then records else 0 end) as left_out_records,
        0.3 as largest_share
    from classes_stays
    group by effort
    union all

    select
        effort,
        cast('results' as TEXT) as linked_table,
        case effort
            when 1 then 'test 1'
            when 2 then 'test 1'
            when 3 then 'test 2'
            when 4 then 'test 0'
        end as levels,
        sum(records) as records,
        sum(case when status = 'raised' then records else 0 end) as raised_records,
        sum(case when status = 'hidden' then records else 0 end) as hidden_records,
        sum(case when status = 'left out' then records else 0 end) as left_out_records,
        0.3 as largest_share
    from classes_results
    group by effort

),

losses as (

    select
        effort,
        cast('stays' as TEXT) as linked_table,
        loss
    from loss_stays
    union all

    select
        effort,
        cast('results' as TEXT) as linked_table,
        loss
    from loss_results

)

select
    counted.effort,
    counted.linked_table,
    counted.levels,
    cast(
        case counted.effort
            when 1 then 4
            when 2 then 4
            when 3 then 4
            when 4 then 4
        end as bigint
    ) as joint_k,
    cast(counted.records as bigint) as records,
    cast(counted.raised_records as bigint) as raised_records,
    cast(counted.hidden_records as bigint) as hidden_records,
    cast(counted.left_out_records as bigint) as left_out_records,
    (counted.hidden_records + counted.left_out_records) / cast(counted.records as double) as lost_share,
    cast(counted.largest_share as double) as largest_share,
    losses.loss
from counted
inner join losses on counted.effort = losses.effort and counted.linked_table = losses.linked_table
order by
    counted.effort,
    counted.linked_table
