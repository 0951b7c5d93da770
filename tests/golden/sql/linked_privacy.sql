with

exceeded as (

    select
        effort,
        string_agg(
            cast(cast(100 * lost_share as decimal(4, 1)) as TEXT) || ' % of ' || linked_table || ' would be hidden or left out, and at most '
            || cast(cast(100 * largest_share as decimal(4, 1)) as TEXT) || ' % may be',
            ', ' order by linked_table
        ) as refusal
    from "shop"."main"."hospital_linked_losses"
    where lost_share > largest_share
    group by effort

)

select
    privacy."effort",
    privacy."k",
    privacy."equivalence_classes",
    privacy."records",
    privacy."released_records",
    privacy."suppressed_records",
    privacy."violating_records",
    privacy.meets_guarantees and exceeded.refusal is null as "meets_guarantees",
    privacy."broken_guarantees",
    privacy."highest_risk",
    privacy."average_risk",
    privacy."sample_uniqueness",
    privacy."journalist_highest_risk",
    privacy."journalist_average_risk",
    privacy."marketer_risk",
    privacy."population_uniqueness",
    exceeded.refusal
from "shop"."main"."hospital_privacy" as privacy
left join exceeded on privacy.effort = exceeded.effort
order by privacy.effort
