select
    count(distinct "illness") as size,
    coalesce(sum(case when "illness" is null then records else 0 end), 0) as missing
from "memory"."main"."frequencies"
