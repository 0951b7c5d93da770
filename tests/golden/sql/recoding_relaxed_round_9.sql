create temporary table dbt_anonymize_summary as
select
    part,
    min(attempts) as attempts,
    min(code_1) as lowest_1,
    max(code_1) as highest_1,
    min(code_2) as lowest_2,
    max(code_2) as highest_2,
    cast(sum(records) as bigint) as records
from dbt_anonymize_rows
group by part
