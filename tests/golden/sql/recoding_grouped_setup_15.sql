create temporary table dbt_anonymize_done_rows as
select
    grouped.part,
    microdata."record_id" as record_key
from "memory"."main"."grouped_microdata" as microdata
inner join "memory"."main"."grouped_groups" as grouped
    on
        cast(microdata."age" as TEXT) is not distinct from grouped.q_1
        and cast(microdata."city" as TEXT) is not distinct from grouped.q_2
