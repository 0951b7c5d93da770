select count(*) as class_size
from "shop"."main_release"."customers_anonymized"
group by
    "birth_date",
    "zip",
    "gender"
having count(*) < 4
