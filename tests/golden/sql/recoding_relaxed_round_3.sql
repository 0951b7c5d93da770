insert into dbt_anonymize_done_rows
select
    part,
    record_key
from dbt_anonymize_rows
where part not in (select cuts.part from dbt_anonymize_cuts as cuts)
