select
    "birth_date",
    "zip",
    "churned",
    "zip_level",
    "people",
    "spending",
    "status"
from "shop"."main"."counts_table_efforts"
where
    kind = 'cell'
    and effort = 1
order by
    "birth_date",
    "zip",
    "churned",
    "zip_level"
