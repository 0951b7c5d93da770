with

leaves as (

    select
        lower_bound as leaf,
        min(upper_bound) as upper_bound,
        count(*) as copies
    from "memory"."main"."hierarchy_age"
    group by lower_bound

)

select coalesce(sum(records), 0) as records
from (
    select frequencies.records
    from "memory"."main"."frequencies" as frequencies
    left join leaves
        on frequencies."age_leaf" = leaves.leaf
    where
        frequencies."age" is not null
        and (
            leaves.copies is null
            or frequencies."age" < leaves.leaf
            or frequencies."age" >= leaves.upper_bound
        )
    union all
    select frequencies.records
    from "memory"."main"."population" as frequencies
    left join leaves
        on frequencies."age_leaf" = leaves.leaf
    where
        frequencies."age" is not null
        and (
            leaves.copies is null
            or frequencies."age" < leaves.leaf
            or frequencies."age" >= leaves.upper_bound
        )
) as uncovered
