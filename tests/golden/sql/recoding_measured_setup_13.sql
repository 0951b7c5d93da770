create temporary table dbt_anonymize_encoded as
select
    microdata."record_id" as record_key,
    microdata."disease" as value_1,
    cast(
        case
            when microdata."age" is null then 0
            when leaves_1.code is null
                then error('measured_setup: a value of age is not in the hierarchy measured_hierarchy_0. Build again from the microdata on.')
            else leaves_1.code
        end as integer
    ) as code_1,
    cast(
        case
            when microdata."city" is null then 0
            when leaves_2.code is null
                then error('measured_setup: a value of city is not in the hierarchy measured_hierarchy_1. Build again from the microdata on.')
            else leaves_2.code
        end as integer
    ) as code_2
from "memory"."main"."measured_microdata" as microdata
left join dbt_anonymize_leaves_1 as leaves_1
    on microdata."age_leaf" = leaves_1.leaf
left join dbt_anonymize_leaves_2 as leaves_2
    on microdata."city_leaf" = leaves_2.leaf
