with

microdata as (

    select * from "shop"."main"."untested_microdata"

)

select
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned",
    count(*) as records
from microdata
group by
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned"
