with

microdata as (

    select * from "memory"."main"."people_microdata"

),

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "memory"."main"."mixed_hierarchy_0"

),

hierarchy_1 as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper
    from (
        select
            lower_bound as leaf,
            cast(level_2 as TEXT) as label,
            min(lower_bound) over (partition by level_2) as label_lower,
            max(upper_bound) over (partition by level_2) as label_upper
        from "memory"."main"."mixed_hierarchy_0"
    ) as leaves
    group by leaf

),

hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "memory"."main"."mixed_hierarchy_1"
    group by cast(value as TEXT)

),

generalized as not materialized (

    select
        microdata."person",
        case
            when microdata."age" is null then '*'
            when hierarchy_1.label is null
                then error('aggregates: a value of age is not in the hierarchy mixed_hierarchy_0. Build again from the microdata on.')
            else hierarchy_1.label
        end as "age",
        coalesce(hierarchy_1.label_lower, range_1.range_lower) as "age_lower",
        coalesce(hierarchy_1.label_upper, range_1.range_upper) as "age_upper",
        case
            when microdata."job" is null then '*'
            when hierarchy_2.label is null
                then error('aggregates: a value of job is not in the hierarchy mixed_hierarchy_1. Build again from the microdata on.')
            else hierarchy_2.label
        end as "job"
    from microdata
    cross join range_1
    left join hierarchy_1
        on microdata."age_leaf" = hierarchy_1.leaf
    left join hierarchy_2
        on microdata."job_leaf" = hierarchy_2.leaf

),

classes as (

    select
        effort,
        "age",
        "job",
        equivalence_class,
        class_size,
        is_suppressed
    from "memory"."main"."mixed_classes"
    where effort = 1

),

effort as (

    select
        generalized."person",
        generalized."age",
        generalized."age_lower",
        generalized."age_upper",
        generalized."job",
        case
            when classes.effort is null
                then error('aggregates: the equivalence class of a record is not in mixed_classes. Build again from the microdata on.')
            else classes.equivalence_class
        end as equivalence_class,
        case
            when classes.effort is null
                then error('aggregates: the equivalence class of a record is not in mixed_classes. Build again from the microdata on.')
            else classes.class_size
        end as class_size,
        case
            when classes.effort is null
                then error('aggregates: the equivalence class of a record is not in mixed_classes. Build again from the microdata on.')
            else classes.is_suppressed
        end as is_suppressed
    from generalized
    left join classes
        on
            generalized."age" = classes."age"
            and generalized."job" = classes."job"

),

members as (

    select
        effort.equivalence_class,
        cast(effort."person" as TEXT) as record_key,
        effort."person" as holder,
        effort."age" as label_1,
        cast(microdata."age" as double) as value_1,
        cast(effort."age_lower" as double) as lower_1,
        cast(effort."age_upper" as double) as upper_1,
        effort."job" as label_2,
        cast(microdata."job" as TEXT) as value_2
    from effort
    inner join microdata on effort."person" = microdata."person"
    where
        effort.equivalence_class in (
            select judged.equivalence_class
            from "memory"."main"."mixed_classes" as judged
            where
                judged.effort = 1
                and not judged.is_violating
                and not judged.is_suppressed
        )

),

ends_1 as (

    select
        equivalence_class,
        lower_end,
        upper_end,
        median,
        coalesce(ceil(lower_end / step) * step, lower_end) as lowest,
        coalesce((ceil(upper_end / step) - 1) * step, upper_end) as highest
    from (
        select
            equivalence_class,
            min(lower_1) as lower_end,
            max(upper_1) as upper_end,
            percentile_disc(0.5) within group (order by value_1) as median,
            coalesce(
                case
                    when max(case when value_1 / 1000000 <> floor(value_1 / 1000000) then 1 else 0 end) = 0
                        then 1000000
                end,
                case
                    when max(case when value_1 / 500000 <> floor(value_1 / 500000) then 1 else 0 end) = 0
                        then 500000
                end,
                case
                    when max(case when value_1 / 100000 <> floor(value_1 / 100000) then 1 else 0 end) = 0
                        then 100000
                end,
                case
                    when max(case when value_1 / 50000 <> floor(value_1 / 50000) then 1 else 0 end) = 0
                        then 50000
                end,
                case
                    when max(case when value_1 / 10000 <> floor(value_1 / 10000) then 1 else 0 end) = 0
                        then 10000
                end,
                case
                    when max(case when value_1 / 5000 <> floor(value_1 / 5000) then 1 else 0 end) = 0
                        then 5000
                end,
                case
                    when max(case when value_1 / 1000 <> floor(value_1 / 1000) then 1 else 0 end) = 0
                        then 1000
                end,
                case
                    when max(case when value_1 / 500 <> floor(value_1 / 500) then 1 else 0 end) = 0
                        then 500
                end,
                case
                    when max(case when value_1 / 100 <> floor(value_1 / 100) then 1 else 0 end) = 0
                        then 100
                end,
                case
                    when max(case when value_1 / 50 <> floor(value_1 / 50) then 1 else 0 end) = 0
                        then 50
                end,
                case
                    when max(case when value_1 / 10 <> floor(value_1 / 10) then 1 else 0 end) = 0
                        then 10
                end,
                case
                    when max(case when value_1 / 5 <> floor(value_1 / 5) then 1 else 0 end) = 0
                        then 5
                end,
                case
                    when max(case when value_1 / 1 <> floor(value_1 / 1) then 1 else 0 end) = 0
                        then 1
                end
            ) as step
        from members
        group by equivalence_class
    ) as bounds_of_classes

),

holders_1 as (

    select
        equivalence_class,
        count(*) as records,
        count(value_1) as known,
        sum(value_1) as total
    from members
    group by
        equivalence_class,
        holder

),

centers_1 as (

    select
        holders.equivalence_class,
        min(ends.lower_end) as lower_end,
        min(ends.upper_end) as upper_end,
        sum(holders.records) - max(holders.records) as others,
        sum(holders.records) - sum(holders.known) as missing,
        sum(holders.total - holders.records * ends.lower_end) / sum(holders.records) as center,
        sum(holders.total - holders.records * ends.lowest) - max(holders.total - holders.records * ends.lowest) as above,
        sum(holders.records * ends.highest - holders.total) - max(holders.records * ends.highest - holders.total) as below
    from holders_1 as holders
    inner join ends_1 as ends on holders.equivalence_class = ends.equivalence_class
    group by holders.equivalence_class

),

scale_1 as (

    select power(10, greatest(0, 3 - floor(log10(cast(max(upper_bound) - min(lower_bound) as double))))) as scale
    from "memory"."main"."mixed_hierarchy_0"

),

aggregates_1 as (

    select
        centers.equivalence_class,
        cast(cast(floor((centers.lower_end + centers.center) * scales.scale + 0.5) / scales.scale as double) as TEXT) as label
    from centers_1 as centers
    cross join scale_1 as scales
    where
        centers.missing = 0
        and centers.others >= 2
        and 100 * centers.above >= 10.0 * (centers.upper_end - centers.lower_end)
        and 100 * centers.below >= 10.0 * (centers.upper_end - centers.lower_end)

),

values_2 as (

    select
        equivalence_class,
        value_2 as value,
        count(*) as records,
        case when min(holder) = max(holder) then min(holder) end as sole
    from members
    group by
        equivalence_class,
        value_2

),

alone_2 as (

    select
        equivalence_class,
        max(different) as different
    from (
        select
            equivalence_class,
            count(*) as different
        from values_2
        where sole is not null
        group by
            equivalence_class,
            sole
    ) as soles
    group by equivalence_class

),

ranked_2 as (

    select
        equivalence_class,
        value,
        row_number() over (
            partition by equivalence_class order by records desc, encode(value)
        ) as place,
        count(*) over (partition by equivalence_class) as different,
        count(value) over (partition by equivalence_class) as known
    from values_2

),

aggregates_2 as (

    select
        ranked_2.equivalence_class,
        ranked_2.value as label
    from ranked_2
    left join alone_2 on ranked_2.equivalence_class = alone_2.equivalence_class
    where
        ranked_2.place = 1
        and ranked_2.known = ranked_2.different
        and ranked_2.different - coalesce(alone_2.different, 0) >= 2

),

labelled as (

    select
        members.equivalence_class,
        max(aggregates_1.label) as aggregate_1,
        max(aggregates_2.label) as aggregate_2
    from members
    left join aggregates_1 on members.equivalence_class = aggregates_1.equivalence_class
    left join aggregates_2 on members.equivalence_class = aggregates_2.equivalence_class
    group by members.equivalence_class

),

told as (

    select
        known.equivalence_class,
        known.aggregate_1,
        known.aggregate_2,
        concat('t', cast(length(known."aggregate_1") as TEXT), ':', known."aggregate_1", '|t', cast(length(known."aggregate_2") as TEXT), ':', known."aggregate_2") as aggregates
    from (
        select
            equivalence_class,
            coalesce(aggregate_1, '') as aggregate_1,
            coalesce(aggregate_2, '') as aggregate_2
        from labelled
    ) as known
    where known.aggregate_1 <> '' or known.aggregate_2 <> ''

)

select
    told.equivalence_class,
    nullif(told.aggregate_1, '') as "age",
    nullif(told.aggregate_2, '') as "job",
    told.aggregates,
    true as is_new,
    cast(0 as bigint)
        as compared_releases
from told
