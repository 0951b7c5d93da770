select source."customer_id" as person
from "shop"."main"."customers" as source
where source."customer_id" is not null
group by source."customer_id"
