create temporary table dbt_anonymize_done_parts as
select *
from dbt_anonymize_summary
where 1 = 0
