insert into dbt_anonymize_done_parts
select *
from dbt_anonymize_summary
where part not in (select cuts.part from dbt_anonymize_cuts as cuts)
