create temporary table dbt_anonymize_done_rows as
select distinct
    part,
    code_1,
    code_2
from dbt_anonymize_rows
where 1 = 0
