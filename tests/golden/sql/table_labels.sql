with

labelled as (

    select
        microdata."birth_date" as label_1_0,
        microdata."birth_date_leaf" as label_1_0_leaf,
        microdata."zip" as label_2_1,
        microdata."zip_leaf" as label_2_1_leaf,
        microdata."zip" as label_2_2,
        microdata."zip_leaf" as label_2_2_leaf,
        coalesce(cast(microdata."churned" as TEXT), '*') as label_3_0
    from "shop"."main"."counts_microdata" as microdata

),

range_1 as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from "shop"."main"."customers_hierarchy_birth_date"

),

hierarchy_2 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_1 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_zip"
    group by cast(value as TEXT)

),

hierarchy_3 as (

    select
        cast(value as TEXT) as leaf,
        min(cast(level_2 as TEXT)) as label
    from "shop"."main"."customers_hierarchy_zip"
    group by cast(value as TEXT)

),

generalized as not materialized (

    select
        labelled."label_3_0",
        coalesce(cast(labelled."label_1_0" as TEXT), '*') as "label_1_0",
        coalesce(labelled."label_1_0", range_1.range_lower) as "label_1_0_lower",
        coalesce(labelled."label_1_0", range_1.range_upper) as "label_1_0_upper",
        case
            when labelled."label_2_1" is null then '*'
            when hierarchy_2.label is null
                then error('counts_table_labels: a value of label_2_1 is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else hierarchy_2.label
        end as "label_2_1",
        case
            when labelled."label_2_2" is null then '*'
            when hierarchy_3.label is null
                then error('counts_table_labels: a value of label_2_2 is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else hierarchy_3.label
        end as "label_2_2"
    from labelled
    cross join range_1
    left join hierarchy_2
        on labelled."label_2_1_leaf" = hierarchy_2.leaf
    left join hierarchy_3
        on labelled."label_2_2_leaf" = hierarchy_3.leaf

),

labels as (

    select distinct
        0 as effort,
        'birth_date' as dimension,
        0 as level,
        label_1_0 as label,
        label_1_0 as finest_label
    from generalized
    union all

    select distinct
        0 as effort,
        'zip' as dimension,
        1 as level,
        label_2_1 as label,
        label_2_1 as finest_label
    from generalized
    union all

    select distinct
        0 as effort,
        'churned' as dimension,
        0 as level,
        label_3_0 as label,
        label_3_0 as finest_label
    from generalized
    union all

    select distinct
        1 as effort,
        'birth_date' as dimension,
        0 as level,
        label_1_0 as label,
        label_1_0 as finest_label
    from generalized
    union all

    select distinct
        1 as effort,
        'zip' as dimension,
        1 as level,
        label_2_1 as label,
        label_2_1 as finest_label
    from generalized
    union all

    select distinct
        1 as effort,
        'zip' as dimension,
        2 as level,
        label_2_2 as label,
        label_2_1 as finest_label
    from generalized
    union all

    select distinct
        1 as effort,
        'churned' as dimension,
        0 as level,
        label_3_0 as label,
        label_3_0 as finest_label
    from generalized

)

select * from labels
