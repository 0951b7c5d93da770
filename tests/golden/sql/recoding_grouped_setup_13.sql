create temporary table dbt_anonymize_done_rows as
select
    grouped.part,
    encoded.code_1,
    encoded.code_2,
    encoded.record_key
from "memory"."main"."grouped_microdata" as microdata
inner join dbt_anonymize_encoded as encoded
    on microdata."record_id" = encoded.record_key
inner join "memory"."main"."grouped_groups" as grouped
    on
        cast(microdata."age" as TEXT) is not distinct from grouped.q_1
        and cast(microdata."city" as TEXT) is not distinct from grouped.q_2
