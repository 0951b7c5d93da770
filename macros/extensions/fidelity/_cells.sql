{# CTE `views`, one row per attribute or pair: its names, whether it is correlated by midpoints, and whether queries ask
   for it. #}
{% macro _views(views, attributes, quasi_identifiers) -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set numbers = quasi_identifiers | selectattr("kind", "equalto", "interval") | map(attribute="name") | list -%}
{%- set text, integer = dbt.type_string(), dbt.type_int() %}

views as (
    {%- for view in views %}
    {%- set is_pair, is_known = view | length == 2, not view | reject("in", names) | list %}
    {%- set other = dbt_anonymize._literal(view[1]) if is_pair else "null" %}

    select
        {{ loop.index }} as view_id,
        cast({{ dbt_anonymize._literal(view[0]) }} as {{ text }}) as attribute,
        cast({{ other }} as {{ text }}) as other_attribute,
        {{ attributes.index(view[0]) + 1 }} as attribute_id,
        cast({{ attributes.index(view[1]) + 1 if is_pair else "null" }} as {{ integer }}) as other_attribute_id,
        {{ "true" if is_pair and not view | reject("in", numbers) | list else "false" }} as is_numeric,
        {{ "true" if is_known and (is_pair or names | length == 1) else "false" }} as is_queried
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}


{# CTE `cells`: the released records of each view in leaf space. The second leaf of a single attribute is 0. #}
{% macro _cells(views, attributes, quasi_identifiers) %}

coded as (

    select
        released.effort,
        {%- for name in attributes %}
        labels_{{ loop.index }}.label_{{ loop.index }},
        {%- endfor %}
        released.records
    from released
    {%- for name in attributes %}
    {%- set i = loop.index %}
    {%- set labels = "labels_" ~ i %}
    {%- set keys = dbt_anonymize._keys_of_label(i, quasi_identifiers[i - 1]) %}
    inner join {{ labels }}
        on
            {%- for key in keys %}
            {{ "and " if not loop.first }}released.{{ key }} is not distinct from {{ labels }}.{{ key }}
            {%- endfor %}
    {%- endfor %}

),

counts as (
    {%- for view in views %}
    {%- set labels = [] %}
    {%- for name in view %}{% do labels.append("label_" ~ (attributes.index(name) + 1)) %}{% endfor %}

    select
        {{ loop.index }} as view_id,
        effort,
        {{ labels[0] }} as label_id,
        {#- With its type, or Postgres takes NULL for a text where it comes first in a union. #}
        {{ labels[1] if view | length == 2 else "cast(null as " ~ dbt.type_bigint() ~ ")" }} as other_label_id,
        sum(records) as records
    from coded
    group by
        effort,
        {{ labels | join(",\n        ") }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

cells as (

    select
        counts.view_id,
        counts.effort,
        spread.position as leaf_1,
        spread.midpoint as midpoint_1,
        coalesce(other_spread.position, 0) as leaf_2,
        other_spread.midpoint as midpoint_2,
        sum(counts.records * spread.weight * coalesce(other_spread.weight, 1)) as records
    from counts
    inner join views on counts.view_id = views.view_id
    inner join spread
        on
            views.attribute_id = spread.attribute_id
            and counts.label_id = spread.label_id
    left join spread as other_spread
        on
            views.other_attribute_id = other_spread.attribute_id
            and counts.other_label_id = other_spread.label_id
    group by
        counts.view_id,
        counts.effort,
        spread.position,
        spread.midpoint,
        other_spread.position,
        other_spread.midpoint

),
{%- endmacro %}


{# CTEs `totals`, the records of each effort, `compared`, the shares of the original and of the release in each cell.
   Effort 0 is the original, read in the same way. #}
{% macro _compared(efforts) -%}
{%- set double = dbt_anonymize._type_double() %}

efforts as (
    {%- for number, effort in efforts.items() %}

    select
        {{ number }} as effort,
        cast({{ dbt_anonymize._number(effort.get("share", 1)) }} as {{ double }}) as share
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),

totals as (

    select
        efforts.effort,
        efforts.share,
        cast(sum(released.records) as {{ double }}) as records,
        max(cast(sum(case when efforts.effort = 0 then released.records end) as {{ double }})) over ()
            as original_records
    from efforts
    left join released on efforts.effort = released.effort
    group by
        efforts.effort,
        efforts.share

),

shares as (

    select
        cells.view_id,
        totals.effort,
        cells.leaf_1,
        cells.midpoint_1,
        cells.leaf_2,
        cells.midpoint_2,
        cells.records / totals.original_records as original,
        0 as released
    from cells
    cross join totals
    where cells.effort = 0

    union all

    select
        cells.view_id,
        cells.effort,
        cells.leaf_1,
        cells.midpoint_1,
        cells.leaf_2,
        cells.midpoint_2,
        0 as original,
        cells.records / totals.records as released
    from cells
    inner join totals on cells.effort = totals.effort

),

compared as (

    select
        view_id,
        effort,
        leaf_1,
        midpoint_1,
        leaf_2,
        midpoint_2,
        sum(original) as original,
        sum(released) as released
    from shares
    group by
        view_id,
        effort,
        leaf_1,
        midpoint_1,
        leaf_2,
        midpoint_2

),
{%- endmacro %}
