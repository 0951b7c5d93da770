select distinct source."e-mail" as person
from "shop"."main"."customers" as source
where source."e-mail" is not null
