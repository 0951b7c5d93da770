select
    "customer_id",
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "order",
    "größe",
    "spending",
    "churned"
from "shop"."main"."monthly_microdata_parts"
