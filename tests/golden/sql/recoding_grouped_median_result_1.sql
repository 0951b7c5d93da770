with

recoded as (

    with

    domain_1 as (

        select
            min(leaf) as range_lower,
            max(upper_bound) as range_upper,
            max(code) as last_code,
            case
                when
                    count(*) = count(distinct string_split(level_1, ', ')[1])
                    and count(*) = count(distinct coalesce(string_split(level_1, ', ')[2], ''))
                    and count(*) = sum(
                        case
                            when level_1 = '0' and code = 1 then 1
                            when
                                level_1 = string_split(level_1, ', ')[1] || ', ' || string_split(level_1, ', ')[2]
                                and level_1 like '[%'
                                and level_1 like '%)'
                                then 1
                            else 0
                        end
                    )
                    then 'brackets'
                when count(*) > sum(case when code = place and translate(substr(level_1, 1, 1), '0123456789', '') = '' then 1 else 0 end)
                    then 'bounds'
                when count(*) = sum(case when translate(level_1, '0123456789', '') in ('', '-', '+') then 1 else 0 end)
                    then 'numbers'
                else 'texts'
            end as notation
        from (

            select
                *,
                row_number() over (order by encode(level_1)) as place
            from dbt_anonymize_leaves_1

        ) as leaves

    ),

    domain_2 as (

        select count(*) as leaves
        from dbt_anonymize_leaves_2

    ),

    parts as (

        select
            part,
            min(code_1) as lowest_1,
            max(code_1) as highest_1,
            min(code_2) as lowest_2,
            max(code_2) as highest_2
        from dbt_anonymize_done_rows
        group by part

    ),

    labels as (

        select
            parts.part,
            case
                when parts.lowest_1 = 0 or (parts.lowest_1 = 1 and parts.highest_1 = domain_1.last_code) then '*'
                when lower_1.first_1 = parts.lowest_1 and lower_1.last_1 = parts.highest_1
                    then lower_1.level_1
                when lower_1.first_2 = parts.lowest_1 and lower_1.last_2 = parts.highest_1
                    then lower_1.level_2
                when domain_1.notation = 'brackets'
                    then case when lower_1.level_1 = '0' then '[0' else string_split(lower_1.level_1, ', ')[1] end || ', ' || string_split(upper_1.level_1, ', ')[2]
                when domain_1.notation = 'numbers'
                    then string_split(lower_1.level_1, '-')[1] || case when upper_1.level_1 like '%+' then '+' when upper_1.level_1 like '%-%' then '-' || string_split(upper_1.level_1, '-')[2] else '-' || upper_1.level_1 end
                when domain_1.notation = 'texts'
                    then lower_1.level_1 || ' - ' || upper_1.level_1
                else '[' || cast(lower_1.leaf as TEXT) || ', ' || cast(upper_1.upper_bound as TEXT) || ')'
            end as "age",
            coalesce(lower_1.leaf, domain_1.range_lower) as "age_lower",
            case
                when parts.lowest_1 = 0 then domain_1.range_upper
                else upper_1.upper_bound
            end as "age_upper",
            cast(case
                when parts.lowest_1 = 0 or (parts.lowest_1 = 1 and parts.highest_1 = domain_1.last_code) then 3
                when lower_1.first_1 = parts.lowest_1 and lower_1.last_1 = parts.highest_1
                    then 1
                when lower_1.first_2 = parts.lowest_1 and lower_1.last_2 = parts.highest_1
                    then 2
            end as integer) as "age_level",
            case
                when parts.lowest_1 = 0 or (parts.lowest_1 = 1 and parts.highest_1 = domain_1.last_code) then cast(1 as double)
                else
                    cast(upper_1.upper_bound - lower_1.leaf as double)
                    / cast(domain_1.range_upper - domain_1.range_lower as double)
            end as "age_share",
            case
                when parts.lowest_2 = 0 then '*'
                when parts.highest_2 = parts.lowest_2 then lower_2.leaf
                when parts.highest_2 <= lower_2.last_1 then lower_2.level_1
                when parts.highest_2 <= lower_2.last_2 then lower_2.level_2
                else '*'
            end as "city",
            cast(case
                when parts.lowest_2 = 0 then 3
                when parts.highest_2 = parts.lowest_2 then 0
                when parts.highest_2 <= lower_2.last_1 and lower_2.level_1 <> '*' then 1
                when parts.highest_2 <= lower_2.last_2 and lower_2.level_2 <> '*' then 2
                else 3
            end as integer) as "city_level",
            case
                when parts.lowest_2 = 0 then cast(1 as double)
                when parts.highest_2 <= lower_2.last_0
                    then
                        cast(lower_2.last_0 - lower_2.first_0 + 1 as double)
                        / domain_2.leaves
                when parts.highest_2 <= lower_2.last_1 and lower_2.level_1 <> '*'
                    then
                        cast(lower_2.last_1 - lower_2.first_1 + 1 as double)
                        / domain_2.leaves
                when parts.highest_2 <= lower_2.last_2 and lower_2.level_2 <> '*'
                    then
                        cast(lower_2.last_2 - lower_2.first_2 + 1 as double)
                        / domain_2.leaves
                else 1
            end as "city_share"
        from parts
        cross join domain_1
        left join dbt_anonymize_leaves_1 as lower_1
            on parts.lowest_1 = lower_1.code
        left join dbt_anonymize_leaves_1 as upper_1
            on parts.highest_1 = upper_1.code
        cross join domain_2
        left join dbt_anonymize_leaves_2 as lower_2
            on parts.lowest_2 = lower_2.code

    )

    select
        encoded.record_key as "record_id",
        labels."age",
        labels."age_lower",
        labels."age_upper",
        labels."age_level",
        labels."age_share",
        labels."city",
        labels."city_level",
        labels."city_share"
    from dbt_anonymize_encoded as encoded
    inner join dbt_anonymize_done_rows as done_rows
        on
            encoded.record_key = done_rows.record_key
    inner join labels on done_rows.part = labels.part

),

members as (

    select
        encoded.record_key,
        done_rows.part,
        encoded.record_key as holder,
        recoded."age_lower" as lower_1,
        cast(microdata."age" - recoded."age_lower" as double) as above_1,
        cast(recoded."age_upper" - microdata."age" as double) as below_1,
        cast(recoded."age_upper" - recoded."age_lower" as double) as span_1
    from dbt_anonymize_encoded as encoded
    inner join dbt_anonymize_done_rows as done_rows
        on
            encoded.record_key = done_rows.record_key
    inner join recoded on encoded.record_key = recoded."record_id"
    inner join "memory"."main"."grouped_median_microdata" as microdata on encoded.record_key = microdata."record_id"

),


range_1 as (

    select
        width,
        power(10, greatest(0, 3 - floor(log10(width)))) as scale
    from (
        select cast(max(upper_bound) - min(lower_bound) as double) as width
        from "memory"."main"."grouped_median_hierarchy_0"
    ) as widths

),

placed_1 as (

    select
        part,
        above_1 as above,
        row_number() over (partition by part order by above_1, record_key) as place,
        count(*) over (partition by part) as records
    from members
    where above_1 is not null

),

median_1 as (

    select
        part,
        above
    from placed_1
    where place = floor((records + 1) / 2)

),

holders as (

    select
        part,
        count(*) as records,
        min(lower_1) as lower_1,
        max(span_1) as span_1,
        count(above_1) as known_1,
        sum(above_1) as above_1,
        sum(below_1) as below_1
    from members
    group by
        part,
        holder

),

groups as (

    select
        part,
        sum(records) as records,
        sum(records) - max(records) as others,
        min(lower_1) as lower_1,
        max(span_1) as span_1,
        sum(known_1) as known_1,
        sum(above_1) as above_1,
        sum(above_1) - max(above_1) as above_others_1,
        sum(below_1) - max(below_1) as below_others_1
    from holders
    group by part

),

means as (

    select
        groups.part,
        case
            when groups.known_1 < groups.records then null
            else cast(
                floor((cast(groups.lower_1 as double) + median_1.above) * range_1.scale + 0.5)
                / range_1.scale as TEXT
            )
        end as label_1
    from groups
    cross join range_1
    left join median_1 on groups.part = median_1.part

),

labelled as (

    select
        recoded."record_id",
        coalesce(means.label_1, recoded."age") as "age",
        recoded."age_lower",
        recoded."age_upper",
        case when means.label_1 is null then recoded."age_level" end as "age_level",
        recoded."city",
        recoded."city_level",
        recoded."city_share"
    from recoded
    inner join members on recoded."record_id" = members.record_key
    inner join means on members.part = means.part

),

joined as (

    select
        "record_id",
        "age",
        min("age_lower") over (partition by "age", "city") as "age_lower",
        max("age_upper") over (partition by "age", "city") as "age_upper",
        "age_level",
        "city",
        "city_level",
        "city_share"
    from labelled

)

select
    joined."record_id",
    joined."age",
    joined."age_lower",
    joined."age_upper",
    joined."age_level",
    case
        when joined."age" = '*' then cast(1 as double)
        else
            cast(joined."age_upper" - joined."age_lower" as double)
            / range_1.width
    end as "age_share",
    joined."city",
    joined."city_level",
    joined."city_share"
from joined
cross join range_1
