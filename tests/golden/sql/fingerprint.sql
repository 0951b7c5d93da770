with

digest_1 as (

    select
        count(*) as records,
        coalesce(sum(hash(hash(digested))), 0) as digest
    from "memory"."main"."frequencies" as digested  -- noqa: AL05

),

digest_2 as (

    select
        count(*) as records,
        coalesce(sum(hash(hash(digested))), 0) as digest
    from "memory"."main"."hierarchy_age" as digested  -- noqa: AL05

)

select
    md5(
        '0a1b2c3d'
        || ' ' || digest_1.records || ' ' || digest_1.digest
        || ' ' || digest_2.records || ' ' || digest_2.digest
    ) as fingerprint
from digest_1
cross join digest_2
