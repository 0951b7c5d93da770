create temporary table dbt_anonymize_done_parts as
select
    done_rows.part,
    min(encoded.code_1) as lowest_1,
    max(encoded.code_1) as highest_1,
    min(encoded.code_2) as lowest_2,
    max(encoded.code_2) as highest_2
from dbt_anonymize_encoded as encoded
inner join dbt_anonymize_done_rows as done_rows on encoded.record_key = done_rows.record_key
group by done_rows.part
