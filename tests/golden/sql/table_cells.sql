with

labelled as (

    select
        microdata."customer_id" as person,
        case
            when drawn.draw is null
                then error('counts_table_cells: a person has no draw. Build again from counts_table_draws on.')
            else cast(floor(drawn.draw * 4294967296) as bigint)
        end as person_key,
        coalesce(cast(microdata."spending" as double), 0) as sum_1,
        microdata."birth_date" as label_1_0,
        microdata."birth_date_leaf" as label_1_0_leaf,
        microdata."zip" as label_2_1,
        microdata."zip_leaf" as label_2_1_leaf,
        microdata."zip" as label_2_2,
        microdata."zip_leaf" as label_2_2_leaf,
        coalesce(cast(microdata."churned" as TEXT), '*') as label_3_0
    from "shop"."main"."counts_microdata" as microdata
    left join "vault"."main"."counts_table_draws" as drawn on microdata."customer_id" = drawn.person

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
        labelled."person",
        labelled."person_key",
        labelled."sum_1",
        labelled."label_3_0",
        coalesce(cast(labelled."label_1_0" as TEXT), '*') as "label_1_0",
        coalesce(labelled."label_1_0", range_1.range_lower) as "label_1_0_lower",
        coalesce(labelled."label_1_0", range_1.range_upper) as "label_1_0_upper",
        case
            when labelled."label_2_1" is null then '*'
            when hierarchy_2.label is null
                then error('counts_table_cells: a value of label_2_1 is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else hierarchy_2.label
        end as "label_2_1",
        case
            when labelled."label_2_2" is null then '*'
            when hierarchy_3.label is null
                then error('counts_table_cells: a value of label_2_2 is not in the hierarchy customers_hierarchy_zip. Build again from the microdata on.')
            else hierarchy_3.label
        end as "label_2_2"
    from labelled
    cross join range_1
    left join hierarchy_2
        on labelled."label_2_1_leaf" = hierarchy_2.leaf
    left join hierarchy_3
        on labelled."label_2_2_leaf" = hierarchy_3.leaf

),

contributions as (

    select
        label_1_0,
        label_2_1,
        label_3_0,
        label_2_2,
        person,
        max(person_key) as person_key,
        case
            when sum(sum_1) < -0.0001
                then error('counts_table_cells: sums must be of amounts of at least 0; of somebody spending is below in a cell. Sum another column, or set negative amounts to NULL in a model before.')
            else sum(sum_1)
        end as sum_1
    from generalized
    group by
        label_1_0,
        label_2_1,
        label_3_0,
        label_2_2,
        person

),

of_people_0 as (

    select
        label_1_0 as label_1,
        label_2_1 as label_2,
        label_3_0 as label_3,
        case when label_2_1 is not null then 1 end as level_2,
        person,
        max(person_key) as person_key,
        sum(sum_1) as sum_1
    from contributions
    group by
        person,
        cube(label_1_0, label_2_1, label_3_0)

),

ranked_0 as (

    select
        label_1,
        label_2,
        label_3,
        level_2,
        person_key,
        sum_1,
        row_number() over (
            partition by
                label_1,
                label_2,
                label_3,
                level_2
            order by sum_1 desc
        ) as rank_1
    from of_people_0

),

cells_0 as (

    select
        0 as effort,
        label_1,
        label_2,
        label_3,
        level_2,
        count(*) as people,
        cast(sum(person_key) as bigint) as keys,
        sum(sum_1) as sum_1,
        max(case when rank_1 = 1 then sum_1 end) as first_1,
        max(case when rank_1 = 2 then sum_1 end) as second_1
    from ranked_0
    group by
        label_1,
        label_2,
        label_3,
        level_2

),

of_people_1 as (

    select
        label_1_0 as label_1,
        coalesce(label_2_1, label_2_2) as label_2,
        label_3_0 as label_3,
        case when label_2_1 is not null then 1 when label_2_2 is not null then 2 end as level_2,
        person,
        max(person_key) as person_key,
        sum(sum_1) as sum_1
    from contributions
    group by
        person,
        cube(label_1_0, label_3_0),
        rollup(label_2_2, label_2_1)

),

ranked_1 as (

    select
        label_1,
        label_2,
        label_3,
        level_2,
        person_key,
        sum_1,
        row_number() over (
            partition by
                label_1,
                label_2,
                label_3,
                level_2
            order by sum_1 desc
        ) as rank_1
    from of_people_1

),

cells_1 as (

    select
        1 as effort,
        label_1,
        label_2,
        label_3,
        level_2,
        count(*) as people,
        cast(sum(person_key) as bigint) as keys,
        sum(sum_1) as sum_1,
        max(case when rank_1 = 1 then sum_1 end) as first_1,
        max(case when rank_1 = 2 then sum_1 end) as second_1
    from ranked_1
    group by
        label_1,
        label_2,
        label_3,
        level_2

),

cells as (

    select
        all_cells.*,
        concat(case when all_cells.label_1 is null then '-' else concat(cast(length(all_cells.label_1) as TEXT), ':', all_cells.label_1) end, '|', case when all_cells.label_3 is null then '-' else concat(cast(length(all_cells.label_3) as TEXT), ':', all_cells.label_3) end, '|', case when all_cells.label_2 is null then '-' else concat(cast(length(concat(cast(all_cells.level_2 as TEXT), '^', all_cells.label_2)) as TEXT), ':', concat(cast(all_cells.level_2 as TEXT), '^', all_cells.label_2)) end) as cell,
        concat('', cast(cast(all_cells.sum_1 as decimal(38, 4)) as TEXT), ' ') as sums
    from (
        select * from cells_0
        union all
        select * from cells_1
    ) as all_cells

),

earlier as (

    select
        1 as effort,
        cast(null as TEXT) as cell,
        cast(null as bigint) as people,
        cast(null as bigint) as keys,
        cast(null as TEXT) as sums,
        cast(null as TEXT) as status
    where 1 = 0

)

select
    coalesce(cells.effort, earlier.effort) as effort,
    coalesce(cells.cell, earlier.cell) as cell,
    cells.label_1 as "birth_date",
    cells.label_2 as "zip",
    cells.label_3 as "churned",
    cells.level_2 as "zip_level",
    coalesce(cells.people, 0) as people,
    coalesce(cells.keys, 0) as keys,
    coalesce(cells.sum_1, 0) as "spending",
    coalesce(cells.first_1, 0) as "spending_first",
    coalesce(cells.second_1, 0) as "spending_second",
    earlier.status as released,
    coalesce(cells.sums, '') as sums,
    coalesce(
        cells.people = earlier.people and cells.keys = earlier.keys and cells.sums = earlier.sums, false
    ) as is_same
from cells
full outer join earlier
    on
        cells.effort = earlier.effort
        and cells.cell = earlier.cell
