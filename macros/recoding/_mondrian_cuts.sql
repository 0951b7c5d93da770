{#
  The cuts that leave at least k records on every side: for each unfinished part the widest attribute that has one.
  One row per side: `part`, `attribute`, the codes `from_code` to `to_code`, and `child`, the part that the side becomes
  (sides of one part may share it). `shared` records of `to_code` go to the lower side and the others to the upper one
  (relaxed). `attempts`: of the child. A large part is asked about one attribute only, since the widest can be cut as a
  rule; where it cannot, the part stays itself with one more attempt (`is_cut` 0) and is asked about the next one.
#}
{% macro _mondrian_cuts(plan) -%}
{%- set bigint = dbt.type_bigint() -%}
{%- set k = plan.k -%}
{%- set large = 32 * k -%}
{%- set numbers = range(1, plan.codes | length + 1) -%}
{%- set summary, leaves = dbt_anonymize._scratch("summary"), dbt_anonymize._scratch("leaves") -%}
with

attributes as (

    select attribute
    from {{ leaves }}
    where code = 0

),

ranges as (

    select
        summary.part,
        summary.attempts,
        summary.records,
        attributes.attribute,
        case attributes.attribute
            {%- for number in numbers %} when {{ number }} then summary.lowest_{{ number }}{% endfor %} end as lowest,
        case attributes.attribute
            {%- for number in numbers %} when {{ number }} then summary.highest_{{ number }}{% endfor %} end as highest
    from {{ summary }} as summary
    cross join attributes
    where summary.records >= {{ 2 * k }}

),

widths as (

    select
        ranges.part,
        ranges.attempts,
        ranges.records,
        ranges.attribute,
        ranges.lowest,
        ranges.highest,
        case when lower_leaf.is_interval = 1 and ranges.lowest > 0 then 1 else 0 end as is_halved,
        case
            {%- for level in range(plan.height) %}
            when ranges.highest <= lower_leaf.last_{{ level }} then {{ level }}
            {%- endfor %}
            else {{ plan.height }}
        end as level,
        case
            when ranges.lowest = 0 then 1
            when lower_leaf.is_interval = 1 then upper_leaf.ends - lower_leaf.starts
            {%- for level in range(plan.height) %}
            when ranges.highest <= lower_leaf.last_{{ level }} then lower_leaf.share_{{ level }}
            {%- endfor %}
            else 1
        end as width
    from ranges
    inner join {{ leaves }} as lower_leaf
        on ranges.attribute = lower_leaf.attribute and ranges.lowest = lower_leaf.code
    inner join {{ leaves }} as upper_leaf
        on ranges.attribute = upper_leaf.attribute and ranges.highest = upper_leaf.code
    where ranges.lowest < ranges.highest

),

candidates as (

    select
        *,
        row_number() over (partition by part order by width desc, attribute) as position,
        count(*) over (partition by part) as candidates
    from widths

),

asked as (

    select *
    from candidates
    where
        position = attempts + 1
        or (position > attempts and records < {{ large }})

),

histogram as (

    select
        asked.part,
        asked.attribute,
        case asked.attribute {{ dbt_anonymize._mondrian_code(plan) }} end as code,
        sum(rows.records) as records
    from {{ dbt_anonymize._scratch("rows") }} as rows
    inner join asked on rows.part = asked.part
    group by
        asked.part,
        asked.attribute,
        case asked.attribute {{ dbt_anonymize._mondrian_code(plan) }} end

),

{#- What a cut may not part: a leaf of an interval, a label below the one that is cut, all that is not NULL. #}

units as (

    select
        part,
        attribute,
        to_code,
        cast(sum(records) as {{ bigint }}) as records,
        max(position) as position,
        max(total) as total,
        max(is_halved) as is_halved
    from (
        select
            histogram.part,
            histogram.attribute,
            histogram.records,
            asked.position,
            asked.records as total,
            asked.is_halved,
            case
                when asked.is_halved = 1 or histogram.code = 0 then histogram.code
                when asked.lowest = 0 then asked.highest
                {%- for level in range(1, plan.height) %}
                when asked.level = {{ level }} then leaf.last_{{ level - 1 }}
                {%- endfor %}
                else leaf.last_{{ plan.height - 1 }}
            end as to_code
        from histogram
        inner join asked on histogram.part = asked.part and histogram.attribute = asked.attribute
        inner join {{ leaves }} as leaf on histogram.attribute = leaf.attribute and histogram.code = leaf.code
    ) as labelled
    group by part, attribute, to_code

),

halved as (

    select
        part,
        attribute,
        position,
        to_code,
        {%- if plan.is_strict %}
        case when up_to < total - up_to then up_to else total - up_to end as smaller_side,
        cast(0 as {{ bigint }}) as shared
        {%- else %}
        {#- The leaf that holds the middle of the part. #}
        case
            when 2 * up_to >= total and 2 * (up_to - records) < total then cast(floor(total / 2.0) as {{ bigint }})
            else -1
        end as smaller_side,
        cast(floor(total / 2.0) as {{ bigint }}) - up_to + records as shared
        {%- endif %}
    from (
        select
            *,
            sum(records) over (
                partition by part, attribute order by to_code rows between unbounded preceding and current row
            ) as up_to
        from units
        where is_halved = 1
    ) as counted

),

{#- Labels with fewer than k records need each other, or one more, and then at least one other label beside them. #}

possible as (

    select
        part,
        max(position) as position
    from halved
    group by part, attribute
    having max(smaller_side) >= {{ k }}

    union all

    select
        part,
        max(position) as position
    from units
    where is_halved = 0
    group by part, attribute
    having
        sum(case when records >= {{ k }} then 1 else 0 end)
        > case when sum(case when records < {{ k }} then records else 0 end) between 1 and {{ k - 1 }} then 1 else 0 end

),

chosen as (

    select
        part,
        min(position) as position
    from possible
    group by part

),

halves as (

    select
        halved.*,
        row_number() over (partition by halved.part order by halved.smaller_side desc, halved.to_code) as place
    from halved
    inner join chosen on halved.part = chosen.part and halved.position = chosen.position

),

branches as (

    select
        units.part,
        units.attribute,
        units.position,
        units.to_code,
        units.records,
        sum(case when units.records < {{ k }} then units.records else 0 end) over (partition by units.part) as rare,
        row_number() over (
            partition by units.part
            order by case when units.records < {{ k }} then 1 else 0 end, units.records, units.to_code
        ) as place,
        coalesce(lag(units.to_code) over (partition by units.part order by units.to_code), -1) + 1 as from_code
    from units
    inner join chosen on units.part = chosen.part and units.position = chosen.position
    where units.is_halved = 0

),

sides as (

    select
        part,
        attribute,
        position,
        1 as is_halved,
        0 as is_rest,
        0 as from_code,
        to_code,
        shared
    from halves
    where place = 1

    union all

    select
        part,
        attribute,
        position,
        1 as is_halved,
        0 as is_rest,
        to_code + 1 as from_code,
        {{ dbt_anonymize._highest_code() }} as to_code,
        shared
    from halves
    where place = 1

    union all

    select
        part,
        attribute,
        position,
        0 as is_halved,
        case when records < {{ k }} or (rare between 1 and {{ k - 1 }} and place = 1) then 1 else 0 end as is_rest,
        from_code,
        to_code,
        cast(0 as {{ bigint }}) as shared
    from branches

)

select
    part,
    attribute,
    from_code,
    to_code,
    cast(
        dense_rank() over (order by part, case when is_rest = 1 then -1 else from_code end)
        {#- A part that is asked again keeps its number, so finished ones may have a higher one. #}
        + greatest(
            (select max(part) from {{ summary }}),
            (select coalesce(max(part), 0) from {{ dbt_anonymize._scratch("done_parts") }})
        ) as {{ dbt.type_int() }}
    ) as child,
    shared,
    is_halved,
    position as attempts,
    1 as is_cut
from sides

union all

select
    asked.part,
    1 as attribute,
    0 as from_code,
    {{ dbt_anonymize._highest_code() }} as to_code,
    asked.part as child,
    cast(0 as {{ bigint }}) as shared,
    0 as is_halved,
    max(asked.position) as attempts,
    0 as is_cut
from asked
left join chosen on asked.part = chosen.part
where chosen.part is null
group by asked.part
having max(asked.position) < max(asked.candidates)
{%- endmacro %}


{# Larger than the code of any leaf. #}
{% macro _highest_code() -%}
    {{ return("2147483647") }}
{%- endmacro %}


{# The proposed cuts whose sides all keep every guarantee about classes. A part with another one stays itself: it is asked
   about its next attribute. P, the distribution in the whole table, is that of all records. #}
{% macro _mondrian_kept_cuts(plan) -%}
{%- set proposed = dbt_anonymize._scratch("proposed") -%}
with

proposed as (

    select * from {{ proposed }}

),

all_rows as (

    select
        {{ dbt_anonymize._mondrian_values(plan) }}
        1 as records
    from {{ dbt_anonymize._scratch("encoded") }}

),
{{- dbt_anonymize._global_distributions(
    "all_rows", plan.attributes, plan.guarantees, "whole_", "count(*)", plan.has_subject, plan.population_size, plan.sensitive_hierarchies
) }}

parted as (

    {{ dbt_anonymize._mondrian_parted(plan, "proposed") }}

),

generalized as (

    select
        part as dbt_anonymize_part,
        {{ dbt_anonymize._mondrian_values(plan) }}
        records
    from parted

),
{{- dbt_anonymize._measured_classes(
    ["dbt_anonymize_part"],
    plan.guarantees,
    sensitive=plan.attributes,
    has_subject=plan.has_subject,
    distributions="whole_",
    population_size=plan.population_size,
    sensitive_hierarchies=plan.sensitive_hierarchies,
) }}

refused as (

    select proposed.part
    from proposed
    inner join classes on proposed.child = classes.dbt_anonymize_part
    where proposed.is_cut = 1 and classes.is_violating
    group by proposed.part

)

select
    proposed.part,
    proposed.attribute,
    proposed.from_code,
    proposed.to_code,
    proposed.child,
    proposed.shared,
    proposed.is_halved,
    proposed.attempts,
    proposed.is_cut
from proposed
left join refused on proposed.part = refused.part
where refused.part is null

union all

select
    part,
    1 as attribute,
    0 as from_code,
    {{ dbt_anonymize._highest_code() }} as to_code,
    part as child,
    0 as shared,
    0 as is_halved,
    max(attempts) as attempts,
    0 as is_cut
from proposed
where part in (select part from refused)
group by part
{%- endmacro %}


{# Columns that guarantees are about, under their own names, each followed by a comma. #}
{% macro _mondrian_values(plan) -%}
    {%- for attribute in plan.attributes %}
        value_{{ loop.index }} as {{ dbt_anonymize._quote(attribute) }},
    {%- endfor %}
    {%- if plan.has_subject %}
        subject,
    {%- endif %}
{%- endmacro %}


{# The rows of the parts that are cut, in the parts that their sides become. #}
{% macro _mondrian_parted(plan, cuts) -%}
{%- set carried = [] -%}
{%- for column in plan.carried -%}{%- do carried.append("rows." ~ column) -%}{%- endfor -%}
{%- set code = "case halves.attribute " ~ dbt_anonymize._mondrian_code(plan) ~ " end" -%}
{%- set halves -%}
(
        select
            part,
            attribute,
            min(to_code) as boundary,
            min(child) as lower_child,
            max(child) as upper_child,
            max(shared) as shared
        from {{ cuts }}
        where is_halved = 1
        group by part, attribute
    ) as halves
{%- endset -%}
select
        case when {{ code }} <= halves.boundary then halves.lower_child else halves.upper_child end as part,
        0 as attempts,
        {{ carried | join(",\n        ") }},
        rows.records
    from {{ dbt_anonymize._scratch("rows") }} as rows
    inner join {{ halves }} on rows.part = halves.part
    {%- if not plan.is_strict %}
    where {{ code }} <> halves.boundary

    union all

    select
        case when place <= shared then lower_child else upper_child end as part,
        0 as attempts,
        {{ plan.carried | join(",\n        ") }},
        records
    from (
        select
            halves.lower_child,
            halves.upper_child,
            halves.shared,
            {{ carried | join(",\n            ") }},
            rows.records,
            row_number() over (
                partition by rows.part
                order by
                    {%- for column in plan.codes %}
                    rows.{{ column }},
                    {%- endfor %}
                    rows.record_key
            ) as place
        from {{ dbt_anonymize._scratch("rows") }} as rows
        inner join {{ halves }} on rows.part = halves.part
        where {{ code }} = halves.boundary
    ) as middle
    {%- endif %}

    union all

    select
        cuts.child as part,
        case when cuts.is_cut = 1 then 0 else cuts.attempts end as attempts,
        {{ carried | join(",\n        ") }},
        rows.records
    from {{ dbt_anonymize._scratch("rows") }} as rows
    inner join {{ cuts }} as cuts
        on
            rows.part = cuts.part
            and case cuts.attribute {{ dbt_anonymize._mondrian_code(plan) }} end between cuts.from_code and cuts.to_code
    where cuts.is_halved = 0
{%- endmacro %}
