with

microdata as (

    select * from "shop"."main"."monthly_frequencies_parts"

)

select
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned",
    cast(sum(records) as bigint) as records
from microdata
group by
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned"
