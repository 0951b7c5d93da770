-- depends_on: "shop"."main"."monthly_microdata"
with

microdata as (

    select * from "shop"."main"."monthly_microdata_parts"

)

select
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned",
    count(*) as records,
    md5(partition_digest || ' <definition>') as partition_digest
from microdata
group by
    "birth_date",
    "birth_date_leaf",
    "zip",
    "zip_leaf",
    "gender",
    "gender_leaf",
    "churned",
    partition_digest
