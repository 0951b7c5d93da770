{#
  CTEs that end in `modes_<place>`: one row per group whose category is released as its mode, the most frequent leaf, of
  equally frequent ones the first of the hierarchy. NULL is a value of its own: a group with one has no mode. Whoever
  knows all records of one holder would know those of the others where these have one value alone and the own is
  another; such a group has no mode either.
#}
{% macro _grouped_mode(place) %}

counted_{{ place }} as (

    select
        part,
        leaf_{{ place }} as leaf,
        min(holder) as first_holder,
        max(holder) as last_holder,
        count(*) as records
    from members
    group by
        part,
        leaf_{{ place }}

),

alone_{{ place }} as (

    select
        part,
        max(leaves) as leaves
    from (
        select
            part,
            count(*) as leaves
        from counted_{{ place }}
        where first_holder = last_holder
        group by
            part,
            first_holder
    ) as of_one_holder
    group by part

),

ranked_{{ place }} as (

    select
        part,
        leaf,
        count(*) over (partition by part) as leaves,
        min(leaf) over (partition by part) as first_leaf,
        row_number() over (partition by part order by records desc, leaf asc) as place
    from counted_{{ place }}

),

modes_{{ place }} as (

    select
        ranked.part,
        leaves.leaf as label
    from ranked_{{ place }} as ranked
    inner join {{ dbt_anonymize._scratch("leaves_" ~ place) }} as leaves on ranked.leaf = leaves.code
    left join alone_{{ place }} as alone on ranked.part = alone.part
    where
        ranked.place = 1
        and ranked.first_leaf > 0
        and (ranked.leaves = 1 or ranked.leaves - coalesce(alone.leaves, 0) >= 2)

),
{%- endmacro %}
