with

microdata as (

    select * from "w"."main"."people_microdata"

)

select
    "age",
    "age_leaf",
    "birth_day",
    "birth_day_leaf",
    "city",
    "city_leaf",
    "job",
    "job_leaf",
    "illness",
    "blood",
    "outcome",
    subject,
    count(*) as records
from microdata
group by
    "age",
    "age_leaf",
    "birth_day",
    "birth_day_leaf",
    "city",
    "city_leaf",
    "job",
    "job_leaf",
    "illness",
    "blood",
    "outcome",
    subject
