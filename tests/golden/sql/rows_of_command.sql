select
    cast("effort" as bigint) as "effort",
    cast("name" as TEXT) as "name",
    cast("value" as double) as "value",
    cast("is_new" as boolean) as "is_new"
from "memory"."main"."frequencies"
where "effort" is not null
