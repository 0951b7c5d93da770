select
    lower_bound,
    max(upper_bound) as upper_bound
from "memory"."main"."hierarchy_age"
group by lower_bound
order by lower_bound
