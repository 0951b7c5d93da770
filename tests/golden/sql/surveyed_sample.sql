select
    source."customer_id" as person,
    min(cast(source."gender" as TEXT)) as stratum_1
from "shop"."main"."customers" as source
where source."customer_id" is not null
group by source."customer_id"
