{#
  Query of one row of counts: how many records joined, left or moved to another class between two releases, given by
  their times; and how many of the classes of both releases together have 1 to k - 1 records, with their number. NULL
  where the vault does not remember both. A record that neither joined, left nor moved is looked up only where its class
  got new ones, as no other class of those who stay can be below k.
#}
{% macro _composed_releases(releases, earlier, later, k) -%}
with

{{ dbt_anonymize._moves_between(releases, earlier, later) }}

arrivals as (

    select
        later,
        sum(records) as records
    from moves
    where later is not null
    group by later

),

latest as (

    select
        versions.record_key,
        versions.cqi,
        row_number() over (partition by versions.record_key order by versions.release desc) as age
    from {{ releases }} as versions
    cross join known
    where
        versions.release <= known.later
        and versions.record_key in (
            select of_class.record_key
            from {{ releases }} as of_class
            inner join arrivals on of_class.cqi = arrivals.later
        )

),

stayed as (

    select count(*) - arrivals.records as records
    from latest
    inner join arrivals on latest.cqi = arrivals.later
    where latest.age = 1
    group by
        arrivals.later,
        arrivals.records

),

joint_classes as (

    select
        case when earlier is null then records end as joined,
        case when later is null then records end as gone,
        case when earlier <> later then records end as moved,
        case when records < {{ k }} then records end as small
    from moves
    union all
    select
        null as joined,
        null as gone,
        null as moved,
        records as small
    from stayed
    where records between 1 and {{ k - 1 }}

)

select
    case when count(known.later) > 0 then coalesce(sum(joint_classes.joined), 0) end as joined_records,
    case when count(known.later) > 0 then coalesce(sum(joint_classes.gone), 0) end as left_records,
    case when count(known.later) > 0 then coalesce(sum(joint_classes.moved), 0) end as moved_records,
    case when count(known.later) > 0 then count(joint_classes.small) end as joint_classes_below_k,
    case when count(known.later) > 0 then coalesce(sum(joint_classes.small), 0) end as records_below_k
from known
left join joint_classes on 1 = 1
{%- endmacro %}


{# CTEs up to `moves`: how many records went from which class (NULL: none) to which other one. #}
{% macro _moves_between(releases, earlier, later) -%}
numbers as (

    {#- Older than the last ten there is one state, of which nothing is known but its end. #}
    select
        {%- for name, time in {"earlier": earlier, "later": later}.items() %}
        max(
            case
                when released_at <= cast({{ dbt_anonymize._literal(time) }} as {{ dbt.type_timestamp() }}) then release
            end
        ) as {{ name }},
        {%- endfor %}
        max(release) - 9 as oldest
    from {{ releases }}

),

known as (

    select
        earlier,
        later
    from numbers
    where
        earlier >= oldest
        and earlier <= later

),

changed as (

    select distinct versions.record_key
    from {{ releases }} as versions
    cross join known
    where
        versions.release > known.earlier
        and versions.release <= known.later

),

versions as (

    select
        record_key,
        cqi,
        release,
        lead(release) over (partition by record_key order by release) as replaced_by
    from {{ releases }}
    where record_key in (select changed.record_key from changed)

),

records_of_both as (

    select
        versions.record_key,
        max(
            case
                when
                    versions.release <= known.earlier
                    and coalesce(versions.replaced_by, known.earlier + 1) > known.earlier
                    then versions.cqi
            end
        ) as earlier,
        max(
            case
                when
                    versions.release <= known.later
                    and coalesce(versions.replaced_by, known.later + 1) > known.later
                    then versions.cqi
            end
        ) as later
    from versions
    cross join known
    group by versions.record_key

),

moves as (

    select
        earlier,
        later,
        count(*) as records
    from records_of_both
    where
        coalesce(earlier, later) is not null
        and (earlier is null or later is null or earlier <> later)
    group by
        earlier,
        later

),
{%- endmacro %}
