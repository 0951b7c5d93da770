with

microdata as (

    select * from "shop"."main"."surveyed_microdata"

)

select
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned",
    sample_share,
    count(*) as records
from microdata
group by
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned",
    sample_share
