insert into dbt_anonymize_done_rows
select
    part,
    code_1,
    code_2,
    record_key
from dbt_anonymize_rows
where part not in (select cuts.part from dbt_anonymize_cuts as cuts)
