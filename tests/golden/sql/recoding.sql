with

classes as (

    select
        class_number,
        max(case when attribute = 'age' then coalesce(label, '') end) as label_1,
        max(case when attribute = 'age' then cast(level as integer) end) as level_1,
        max(case when attribute = 'age' then leaf end) as lower_1,
        max(case when attribute = 'age' then upper_bound end) as upper_1,
        max(case when attribute = 'city' then coalesce(label, '') end) as label_2,
        max(case when attribute = 'city' then cast(level as integer) end) as level_2
    from "memory"."main"."counted_labels"
    where class_number is not null
    group by class_number

),

keyed as (

    select
        "record_id",
        "age_leaf" as leaf_1,
        coalesce('v' || cast("age_leaf" as TEXT), '') as key_1,
        "city_leaf" as leaf_2,
        coalesce('v' || cast("city_leaf" as TEXT), '') as key_2
    from "memory"."main"."counted_microdata"

),

tuples as (

    select distinct
        keyed.key_1,
        keyed.key_2
    from keyed

),

labels_1 as (

    select
        classes.label_1 as label,
        coalesce(classes.lower_1, '') as lower_text,
        min(case when classes.level_1 = 0 then classes.label_1 end) as exact_label,
        min(first_leaves.lower_bound) as lower_bound,
        max(last_leaves.upper_bound) as upper_bound
    from classes
    left join "memory"."main"."counted_hierarchy_0" as first_leaves
        on classes.lower_1 = cast(first_leaves.lower_bound as TEXT)
    left join "memory"."main"."counted_hierarchy_0" as last_leaves
        on classes.upper_1 = cast(last_leaves.upper_bound as TEXT)
    group by
        classes.label_1,
        coalesce(classes.lower_1, '')

),

found_1 as (

    select distinct
        key_1,
        leaf_1
    from keyed

),

holds_1 as (

    select
        found.key_1,
        labels.label,
        labels.lower_text
    from found_1 as found
    inner join labels_1 as labels
        on
            (labels.label = '*' and labels.lower_bound is null)
            or found.key_1 = 'v' || labels.exact_label
            or (found.leaf_1 >= labels.lower_bound and found.leaf_1 < labels.upper_bound)

),

labels_2 as (

    select distinct
        label_2 as label,
        level_2 as level
    from classes

),

found_2 as (

    select distinct
        key_2,
        leaf_2
    from keyed

),

holds_2 as (

    select
        found.key_2,
        labels.label,
        labels.level
    from found_2 as found
    left join "memory"."main"."counted_hierarchy_1" as leaves
        on found.leaf_2 = cast(leaves.value as TEXT)
    inner join labels_2 as labels
        on
            (found.leaf_2 is null and labels.label = '*')
            or labels.label = case labels.level
                when 0 then found.leaf_2
                when 1 then cast(leaves.level_1 as TEXT)
                when 2 then cast(leaves.level_2 as TEXT)
                when 3 then cast(leaves.level_3 as TEXT)
            end

),

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "memory"."main"."counted_hierarchy_0"

),

shares_2 as (

    select
        0 as level,
        cast(value as TEXT) as label,
        cast(count(*) as double) / cast(sum(count(*)) over () as double) as share
    from "memory"."main"."counted_hierarchy_1"
    group by cast(value as TEXT)
    union all
    select
        1 as level,
        cast(level_1 as TEXT) as label,
        cast(count(*) as double) / cast(sum(count(*)) over () as double) as share
    from "memory"."main"."counted_hierarchy_1"
    group by cast(level_1 as TEXT)
    union all
    select
        2 as level,
        cast(level_2 as TEXT) as label,
        cast(count(*) as double) / cast(sum(count(*)) over () as double) as share
    from "memory"."main"."counted_hierarchy_1"
    group by cast(level_2 as TEXT)
    union all
    select
        3 as level,
        cast(level_3 as TEXT) as label,
        cast(count(*) as double) / cast(sum(count(*)) over () as double) as share
    from "memory"."main"."counted_hierarchy_1"
    group by cast(level_3 as TEXT)

),

placed as (

    select
        tuples.key_1,
        tuples.key_2,
        min(classes.class_number) as class_number
    from tuples
    inner join holds_1 on tuples.key_1 = holds_1.key_1
    inner join holds_2 on tuples.key_2 = holds_2.key_2
    inner join classes
        on
            holds_1.label = classes.label_1
            and holds_1.lower_text = coalesce(classes.lower_1, '')
            and holds_2.label = classes.label_2
            and holds_2.level = classes.level_2
    group by
        tuples.key_1,
        tuples.key_2

)

select
    keyed."record_id",
    classes.label_1 as "age",
    case
        when classes.label_1 = '*' and labels_1.lower_bound is null then range_1.range_lower
        else labels_1.lower_bound
    end as "age_lower",
    case
        when classes.label_1 = '*' and labels_1.lower_bound is null then range_1.range_upper
        else labels_1.upper_bound
    end as "age_upper",
    classes.level_1 as "age_level",
    case
        when classes.label_1 = '*' then cast(1 as double)
        when classes.level_1 = 0 then 0
        else
            cast(labels_1.upper_bound - labels_1.lower_bound as double)
            / cast(range_1.range_upper - range_1.range_lower as double)
    end as "age_share",
    classes.label_2 as "city",
    classes.level_2 as "city_level",
    case
        when classes.label_2 = '*' then cast(1 as double)
        else shares_2.share
    end as "city_share"
from keyed
inner join placed
    on
        keyed.key_1 = placed.key_1
        and keyed.key_2 = placed.key_2
inner join classes on placed.class_number = classes.class_number
cross join range_1
inner join labels_1
    on
        classes.label_1 = labels_1.label
        and coalesce(classes.lower_1, '') = labels_1.lower_text
left join shares_2
    on
        classes.label_2 = shares_2.label
        and classes.level_2 = shares_2.level
