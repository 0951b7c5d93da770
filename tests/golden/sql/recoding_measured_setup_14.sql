create temporary table dbt_anonymize_rows as
select
    cast(1 as integer) as part,
    cast(0 as integer) as attempts,
    code_1,
    code_2,
    value_1,
    count(*) as records
from dbt_anonymize_encoded
group by
    code_1,
    code_2,
    value_1
