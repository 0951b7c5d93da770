with

source as (

    select * from "shop"."main"."customers"

),

key_1 as (

    select
        cast(xor(cast(unhex(hex(encode(token)) || repeat('00', 32)) as bit), cast(unhex(repeat('36', 64)) as bit)) as blob) as inner_pad,
        cast(xor(cast(unhex(hex(encode(token)) || repeat('00', 32)) as bit), cast(unhex(repeat('5c', 64)) as bit)) as blob) as outer_pad
    from "vault"."main"."guests_mask_keys"
    where person = 'hash größe'

),

values_1 as (

    select distinct "birth_date" as found
    from source
    where "birth_date" is not null

),

leaves_1 as (

    select
        values_1.found,
        hierarchy.lower_bound as leaf
    from values_1
    inner join "shop"."main"."customers_hierarchy_birth_date" as hierarchy
        on
            values_1.found >= hierarchy.lower_bound
            and values_1.found < hierarchy.upper_bound

),

leaves_2 as (

    select cast(value as TEXT) as leaf
    from "shop"."main"."customers_hierarchy_zip"

),

leaves_3 as (

    select cast(value as TEXT) as leaf
    from "shop"."main"."customers_hierarchy_gender"

)

select
    source."customer_id",
    source."birth_date",
    leaves_1.leaf as "birth_date_leaf",
    source."zip",
    leaves_2.leaf as "zip_leaf",
    source."gender",
    leaves_3.leaf as "gender_leaf",
    case
        when length(translate(coalesce(source."full name", ''), translate(coalesce(source."full name", ''), '0123456789', ''), '')) >= 6
            then '***' || right(translate(coalesce(source."full name", ''), translate(coalesce(source."full name", ''), '0123456789', ''), ''), 2)
        when source."full name" is not null then '***'
    end
        as "full name",
    case
        when
            length(coalesce(source."e-mail", '')) - length(replace(coalesce(source."e-mail", ''), '@', '')) = 1
            and split_part(coalesce(source."e-mail", ''), '@', 2) <> ''
            and translate(split_part(coalesce(source."e-mail", ''), '@', 2), 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-', '') = ''
            then '***@' || lower(split_part(coalesce(source."e-mail", ''), '@', 2))
        when source."e-mail" is not null then '***'
    end
        as "e-mail",
    source."order",
    case when cast(source."order" as double) = cast('NaN' as double) then cast('NaN' as double) else round(floor(case when cast(source."order" as double) > 20 then 20 else cast(source."order" as double) end / cast(5 as double) + 0.5) * cast(5 as double), 0) + 0 end
        as "order_masked",
    source."größe",
    case when (select key_1.inner_pad from key_1) is null then error('guests_microdata: a key of a mask is not in the vault. Build again with everything before.') when source."größe" is not null then sha256((select key_1.outer_pad from key_1) || unhex(sha256((select key_1.inner_pad from key_1) || encode(coalesce(cast(source."größe" as TEXT), ''))))) end
        as "größe_masked",
    source."spending",
    case when cast(source."spending" as double) = cast('NaN' as double) then cast('NaN' as double) else round(floor(cast(source."spending" as double) / cast(0.5 as double) + 0.5) * cast(0.5 as double), 1) + 0 end
        as "spending_masked",
    source."churned"
from source
left join leaves_1
    on source."birth_date" = leaves_1.found
left join leaves_2
    on cast(source."zip" as TEXT) = leaves_2.leaf
left join leaves_3
    on cast(source."gender" as TEXT) = leaves_3.leaf
