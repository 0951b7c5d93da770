with

people as (

    select * from "memory"."main"."paid_stronger_microdata"

),

round_1_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "memory"."main"."paid_stronger_hierarchy_0"

),

round_1_hierarchy_2 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_1 as TEXT) as label,
            cast(count(*) over (partition by level_1) as double)
            / count(*) over () as share
        from "memory"."main"."paid_stronger_hierarchy_1"
    ) as leaves
    group by leaf

),

round_1_generalized as not materialized (

    select
        people."record_id",
        coalesce(cast(people."age" as TEXT), '*') as "age",
        coalesce(people."age", round_1_range_1.range_lower) as "age_lower",
        coalesce(people."age", round_1_range_1.range_upper) as "age_upper",
        case
            when people."age" is null then 1
            else 0
        end as "age_share",
        case
            when people."city" is null then '*'
            when round_1_hierarchy_2.label is null
                then error('paid_stronger: a value of city is not in the hierarchy paid_stronger_hierarchy_1. Build again from the microdata on.')
            else round_1_hierarchy_2.label
        end as "city",
        case
            when people."city" is null or round_1_hierarchy_2.label = '*' then 1
            else round_1_hierarchy_2.share
        end as "city_share"
    from people
    cross join round_1_range_1
    left join round_1_hierarchy_2
        on people."city_leaf" = round_1_hierarchy_2.leaf

),

round_1_labels as (

    select
        *,
        cast(0 as integer) as "age_level",
        cast(1 as integer) as "city_level"
    from round_1_generalized

),

chosen_1 as (

    select * from round_1_labels

),

round_2_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "memory"."main"."paid_stronger_hierarchy_0"

),

round_2_hierarchy_1 as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper,
        max(
            cast(label_upper - label_lower as double)
            / cast(whole_upper - whole_lower as double)
        ) as share
    from (
        select
            lower_bound as leaf,
            cast(level_1 as TEXT) as label,
            min(lower_bound) over () as whole_lower,
            max(upper_bound) over () as whole_upper,
            min(lower_bound) over (partition by level_1) as label_lower,
            max(upper_bound) over (partition by level_1) as label_upper
        from "memory"."main"."paid_stronger_hierarchy_0"
    ) as leaves
    group by leaf

),

round_2_hierarchy_2 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_2 as TEXT) as label,
            cast(count(*) over (partition by level_2) as double)
            / count(*) over () as share
        from "memory"."main"."paid_stronger_hierarchy_1"
    ) as leaves
    group by leaf

),

round_2_generalized as not materialized (

    select
        people."record_id",
        case
            when people."age" is null then '*'
            when round_2_hierarchy_1.label is null
                then error('paid_stronger: a value of age is not in the hierarchy paid_stronger_hierarchy_0. Build again from the microdata on.')
            else round_2_hierarchy_1.label
        end as "age",
        coalesce(round_2_hierarchy_1.label_lower, round_2_range_1.range_lower) as "age_lower",
        coalesce(round_2_hierarchy_1.label_upper, round_2_range_1.range_upper) as "age_upper",
        case
            when people."age" is null or round_2_hierarchy_1.label = '*' then 1
            else round_2_hierarchy_1.share
        end as "age_share",
        case
            when people."city" is null then '*'
            when round_2_hierarchy_2.label is null
                then error('paid_stronger: a value of city is not in the hierarchy paid_stronger_hierarchy_1. Build again from the microdata on.')
            else round_2_hierarchy_2.label
        end as "city",
        case
            when people."city" is null or round_2_hierarchy_2.label = '*' then 1
            else round_2_hierarchy_2.share
        end as "city_share"
    from people
    cross join round_2_range_1
    left join round_2_hierarchy_1
        on people."age_leaf" = round_2_hierarchy_1.leaf
    left join round_2_hierarchy_2
        on people."city_leaf" = round_2_hierarchy_2.leaf

),

round_2_labels as (

    select
        *,
        cast(1 as integer) as "age_level",
        cast(2 as integer) as "city_level"
    from round_2_generalized

),

round_2_classes as (

    select
        "age",
        "city",
        count(*) as class_size,
        case
            when
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) = 0
                then 0
            else (
                case when max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0") <= 1 then 0 else ln(max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0")) end
                + case when max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1") <= 1 then 0 else ln(max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) end
            ) / (
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1"))
            )
        end as class_loss
    from chosen_1
    group by
        "age",
        "city"

),

round_2_worth as (

    select
        "age",
        "city",
        case when coalesce(class_size < 3 or class_size * 1 < 4 or coalesce((10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end), 0) <= 10 * 1e-12, true) then 0 else (10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end) end as worth
    from round_2_classes

),

round_2_members as (

    select
        chosen."record_id",
        labels."age",
        labels."city",
        classes.worth
    from chosen_1 as chosen
    inner join round_2_worth as classes
        on
            chosen."age" = classes."age"
            and chosen."city" = classes."city"
    inner join round_2_labels as labels
        on chosen."record_id" = labels."record_id"

),

round_2_losses as (

    select
        "age",
        "city",
        case
            when
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) = 0
                then 0
            else (
                case when max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0") <= 1 then 0 else ln(max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0")) end
                + case when max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1") <= 1 then 0 else ln(max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) end
            ) / (
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1"))
            )
        end as class_loss
    from round_2_labels
    group by
        "age",
        "city"

),

round_2_counted as (

    select
        "age",
        "city",
        worth,
        count(*) as records
    from round_2_members
    group by
        "age",
        "city",
        worth

),

round_2_poorest as (

    select
        "age",
        "city",
        worth as up_to,
        sum(records) over (partition by "age", "city" order by worth) as class_size,
        sum(records * worth) over (partition by "age", "city" order by worth) as payout
    from round_2_counted

),

round_2_formed as (

    select
        poorest."age",
        poorest."city",
        poorest.up_to,
        poorest.class_size,
        poorest.payout,
        losses.class_loss
    from round_2_poorest as poorest
    inner join round_2_losses as losses
        on
            poorest."age" = losses."age"
            and poorest."city" = losses."city"

),

round_2_gains as (

    select
        "age",
        "city",
        up_to,
        10 * 1e-12 * class_size as rounding,
        class_size * case when coalesce(class_size < 3 or class_size * 1 < 4 or coalesce((10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end), 0) <= 10 * 1e-12, true) then 0 else (10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end) end - payout as gain
    from round_2_formed

),

round_2_ranked as (

    select
        "age",
        "city",
        up_to,
        rounding,
        gain,
        max(gain) over (partition by "age", "city") as most
    from round_2_gains

),

round_2_rising as (

    select
        "age",
        "city",
        min(up_to) as up_to
    from round_2_ranked
    where gain > rounding and gain >= most - rounding
    group by
        "age",
        "city"

),

chosen_2 as (

    select
        chosen."record_id",
        case
            when members.worth <= rising.up_to then labels."age"
            else chosen."age"
        end as "age",
        case
            when members.worth <= rising.up_to then labels."age_lower"
            else chosen."age_lower"
        end as "age_lower",
        case
            when members.worth <= rising.up_to then labels."age_upper"
            else chosen."age_upper"
        end as "age_upper",
        case
            when members.worth <= rising.up_to then labels."age_level"
            else chosen."age_level"
        end as "age_level",
        case
            when members.worth <= rising.up_to then labels."age_share"
            else chosen."age_share"
        end as "age_share",
        case
            when members.worth <= rising.up_to then labels."city"
            else chosen."city"
        end as "city",
        case
            when members.worth <= rising.up_to then labels."city_level"
            else chosen."city_level"
        end as "city_level",
        case
            when members.worth <= rising.up_to then labels."city_share"
            else chosen."city_share"
        end as "city_share"
    from chosen_1 as chosen
    inner join round_2_labels as labels
        on chosen."record_id" = labels."record_id"
    inner join round_2_members as members
        on chosen."record_id" = members."record_id"
    left join round_2_rising as rising
        on
            labels."age" = rising."age"
            and labels."city" = rising."city"

),

round_3_range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "memory"."main"."paid_stronger_hierarchy_0"

),

round_3_hierarchy_1 as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper,
        max(
            cast(label_upper - label_lower as double)
            / cast(whole_upper - whole_lower as double)
        ) as share
    from (
        select
            lower_bound as leaf,
            cast(level_3 as TEXT) as label,
            min(lower_bound) over () as whole_lower,
            max(upper_bound) over () as whole_upper,
            min(lower_bound) over (partition by level_3) as label_lower,
            max(upper_bound) over (partition by level_3) as label_upper
        from "memory"."main"."paid_stronger_hierarchy_0"
    ) as leaves
    group by leaf

),

round_3_hierarchy_2 as (

    select
        leaf,
        min(label) as label,
        max(share) as share
    from (
        select
            cast(value as TEXT) as leaf,
            cast(level_3 as TEXT) as label,
            cast(count(*) over (partition by level_3) as double)
            / count(*) over () as share
        from "memory"."main"."paid_stronger_hierarchy_1"
    ) as leaves
    group by leaf

),

round_3_generalized as not materialized (

    select
        people."record_id",
        case
            when people."age" is null then '*'
            when round_3_hierarchy_1.label is null
                then error('paid_stronger: a value of age is not in the hierarchy paid_stronger_hierarchy_0. Build again from the microdata on.')
            else round_3_hierarchy_1.label
        end as "age",
        coalesce(round_3_hierarchy_1.label_lower, round_3_range_1.range_lower) as "age_lower",
        coalesce(round_3_hierarchy_1.label_upper, round_3_range_1.range_upper) as "age_upper",
        case
            when people."age" is null or round_3_hierarchy_1.label = '*' then 1
            else round_3_hierarchy_1.share
        end as "age_share",
        case
            when people."city" is null then '*'
            when round_3_hierarchy_2.label is null
                then error('paid_stronger: a value of city is not in the hierarchy paid_stronger_hierarchy_1. Build again from the microdata on.')
            else round_3_hierarchy_2.label
        end as "city",
        case
            when people."city" is null or round_3_hierarchy_2.label = '*' then 1
            else round_3_hierarchy_2.share
        end as "city_share"
    from people
    cross join round_3_range_1
    left join round_3_hierarchy_1
        on people."age_leaf" = round_3_hierarchy_1.leaf
    left join round_3_hierarchy_2
        on people."city_leaf" = round_3_hierarchy_2.leaf

),

round_3_labels as (

    select
        *,
        cast(3 as integer) as "age_level",
        cast(3 as integer) as "city_level"
    from round_3_generalized

),

round_3_classes as (

    select
        "age",
        "city",
        count(*) as class_size,
        case
            when
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) = 0
                then 0
            else (
                case when max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0") <= 1 then 0 else ln(max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0")) end
                + case when max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1") <= 1 then 0 else ln(max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) end
            ) / (
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1"))
            )
        end as class_loss
    from chosen_2
    group by
        "age",
        "city"

),

round_3_worth as (

    select
        "age",
        "city",
        case when coalesce(class_size < 3 or class_size * 1 < 4 or coalesce((10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end), 0) <= 10 * 1e-12, true) then 0 else (10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end) end as worth
    from round_3_classes

),

round_3_members as (

    select
        chosen."record_id",
        labels."age",
        labels."city",
        classes.worth
    from chosen_2 as chosen
    inner join round_3_worth as classes
        on
            chosen."age" = classes."age"
            and chosen."city" = classes."city"
    inner join round_3_labels as labels
        on chosen."record_id" = labels."record_id"

),

round_3_losses as (

    select
        "age",
        "city",
        case
            when
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) = 0
                then 0
            else (
                case when max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0") <= 1 then 0 else ln(max("age_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0")) end
                + case when max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1") <= 1 then 0 else ln(max("city_share") * (select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1")) end
            ) / (
                ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_0"))
                + ln((select cast(count(*) as double) from "memory"."main"."paid_stronger_hierarchy_1"))
            )
        end as class_loss
    from round_3_labels
    group by
        "age",
        "city"

),

round_3_counted as (

    select
        "age",
        "city",
        worth,
        count(*) as records
    from round_3_members
    group by
        "age",
        "city",
        worth

),

round_3_poorest as (

    select
        "age",
        "city",
        worth as up_to,
        sum(records) over (partition by "age", "city" order by worth) as class_size,
        sum(records * worth) over (partition by "age", "city" order by worth) as payout
    from round_3_counted

),

round_3_formed as (

    select
        poorest."age",
        poorest."city",
        poorest.up_to,
        poorest.class_size,
        poorest.payout,
        losses.class_loss
    from round_3_poorest as poorest
    inner join round_3_losses as losses
        on
            poorest."age" = losses."age"
            and poorest."city" = losses."city"

),

round_3_gains as (

    select
        "age",
        "city",
        up_to,
        10 * 1e-12 * class_size as rounding,
        class_size * case when coalesce(class_size < 3 or class_size * 1 < 4 or coalesce((10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end), 0) <= 10 * 1e-12, true) then 0 else (10 * (1 - class_loss) - case when class_size * 0.5 < 5 then cast(12 as double) / nullif(class_size, 0) else 0 end) end - payout as gain
    from round_3_formed

),

round_3_ranked as (

    select
        "age",
        "city",
        up_to,
        rounding,
        gain,
        max(gain) over (partition by "age", "city") as most
    from round_3_gains

),

round_3_rising as (

    select
        "age",
        "city",
        min(up_to) as up_to
    from round_3_ranked
    where gain > rounding and gain >= most - rounding
    group by
        "age",
        "city"

),

chosen_3 as (

    select
        chosen."record_id",
        case
            when members.worth <= rising.up_to then labels."age"
            else chosen."age"
        end as "age",
        case
            when members.worth <= rising.up_to then labels."age_lower"
            else chosen."age_lower"
        end as "age_lower",
        case
            when members.worth <= rising.up_to then labels."age_upper"
            else chosen."age_upper"
        end as "age_upper",
        case
            when members.worth <= rising.up_to then labels."age_level"
            else chosen."age_level"
        end as "age_level",
        case
            when members.worth <= rising.up_to then labels."age_share"
            else chosen."age_share"
        end as "age_share",
        case
            when members.worth <= rising.up_to then labels."city"
            else chosen."city"
        end as "city",
        case
            when members.worth <= rising.up_to then labels."city_level"
            else chosen."city_level"
        end as "city_level",
        case
            when members.worth <= rising.up_to then labels."city_share"
            else chosen."city_share"
        end as "city_share"
    from chosen_2 as chosen
    inner join round_3_labels as labels
        on chosen."record_id" = labels."record_id"
    inner join round_3_members as members
        on chosen."record_id" = members."record_id"
    left join round_3_rising as rising
        on
            labels."age" = rising."age"
            and labels."city" = rising."city"

),

recoding as (

    select
        "record_id",
        "age",
        "age_lower",
        "age_upper",
        "age_level",
        "age_share",
        "city",
        "city_level",
        "city_share"
    from chosen_3

)

select * from recoding
