{% macro fidelity(
    efforts, quasi_identifiers, columns, pairs, queries=100, random_state=1, sanity_bound=0.001
) -%}
{{ config(materialized="table") }}
{%- if queries is not number or queries < 1 or queries > 1000 -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": `queries` must be an int from 1 to 1000; got: " ~ queries ~ ". Correct fidelity in the spec."
    ) }}
{%- endif -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set attributes, views = names + columns, [] -%}
{%- for name in attributes -%}{%- do views.append([name]) -%}{%- endfor -%}
{%- do views.extend(pairs) -%}
{%- set double, queried = dbt_anonymize._type_double(), [] -%}
with

{{ dbt_anonymize._released_counts(efforts, quasi_identifiers, columns) }}
{%- for quasi_identifier in quasi_identifiers %}
{{- dbt_anonymize._leaf_shares(quasi_identifier, loop.index) }}
{%- endfor %}
{{- dbt_anonymize._random_queries(queries, random_state) }}

totals as (

    {%- for number, effort in efforts.items() %}
    select
        {{ number }} as effort,
        cast(sum(records) as {{ double }}) as records,
        cast({{ dbt_anonymize._number(effort.get("share", 1)) }} as {{ double }}) as share
    from released
    where effort = {{ number }}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- for view in views %}
{%- set v = loop.index %}
{{- dbt_anonymize._cells(v, view, attributes, quasi_identifiers) }}
{%- if not view | reject("in", names) | list and (view | length == 2 or names | length == 1) %}
{%- do queried.append([v, view]) %}
{{- dbt_anonymize._query_errors(v, view, quasi_identifiers, sanity_bound) }}
{%- endif %}
{%- if view | length == 2 %}
{{- dbt_anonymize._correlation(v, dbt_anonymize._interval_pair(view, quasi_identifiers)) }}
{%- endif %}

distance_{{ v }} as (

    select
        effort,
        sum(abs(original - released)) / 2 as distance
    from compared_{{ v }}
    group by effort

){{ "," if not loop.last }}
{%- endfor %}

{% for view in views %}
select
    totals.effort,
    'distance' as statistic,
    {{ dbt_anonymize._attributes_of_view(view) }},
    case when totals.records > 0 then distance_{{ loop.index }}.distance end as value
from totals
left join distance_{{ loop.index }} on totals.effort = distance_{{ loop.index }}.effort
{%- if view | length == 2 %}
union all
select
    totals.effort,
    'correlation_difference' as statistic,
    {{ dbt_anonymize._attributes_of_view(view) }},
    {#- Without any pair of numbers there is no row: correlations of nothing are 0. #}
    case
        when totals.records > 0
            then coalesce(abs(correlation_{{ loop.index }}.released - correlation_{{ loop.index }}.original), 0)
    end as value
from totals
left join correlation_{{ loop.index }} on totals.effort = correlation_{{ loop.index }}.effort
{%- endif %}
{{- "\nunion all" if queried or not loop.last }}
{%- endfor %}
{%- for v, view in queried %}
{%- set last = loop.last %}
{%- for statistic in ["count_error_median", "count_error_p95", "mean_error_median", "mean_error_p95"] %}
select
    totals.effort,
    '{{ statistic }}' as statistic,
    {{ dbt_anonymize._attributes_of_view(view) }},
    case when totals.records > 0 then errors_{{ v }}.{{ statistic }} end as value
from totals
left join errors_{{ v }} on totals.effort = errors_{{ v }}.effort
{{- "\nunion all" if not (last and loop.last) }}
{%- endfor %}
{%- endfor %}
{%- endmacro %}


{# The columns that say what a row is about. #}
{% macro _attributes_of_view(view) -%}
    {%- set second = dbt_anonymize._literal(view[1]) if view | length == 2 else "null" -%}
    {{ return(
        "cast(" ~ dbt_anonymize._literal(view[0]) ~ " as " ~ dbt.type_string() ~ ") as attribute,\n    cast("
        ~ second ~ " as " ~ dbt.type_string() ~ ") as other_attribute"
    ) }}
{%- endmacro %}


{# CTEs `cells_<v>`, released records of one or two attributes in leaf space, and `compared_<v>`, the shares of the
   original and of the release in each cell. Effort 0 is the original, read in the same way. #}
{% macro _cells(v, view, attributes, quasi_identifiers) -%}
{%- set leaves, keys, weights, joins = [], [], [], [] -%}
{%- for name in view -%}
    {%- set i = attributes.index(name) + 1 -%}
    {%- if i > quasi_identifiers | length -%}
        {%- do leaves.append("counts.value_" ~ i) -%}
        {%- do keys.append("value_" ~ i) -%}
    {%- else -%}
        {%- set is_interval = quasi_identifiers[i - 1].kind == "interval" -%}
        {%- set own = ["lower_" ~ i, "upper_" ~ i] if is_interval else ["label_" ~ i, "level_" ~ i] -%}
        {%- do keys.extend(own) -%}
        {%- do leaves.append("spread_" ~ i ~ ".position") -%}
        {%- do weights.append(
            "case when spread_" ~ i ~ ".weight is null then "
            ~ dbt_anonymize._raise_in_sql(
                model.name ~ ": a label of " ~ name ~ " is not in its hierarchy. Build again from the microdata on.",
                "spread_" ~ i ~ ".weight"
            ) ~ " else spread_" ~ i ~ ".weight end"
        ) -%}
        {%- set on = [] -%}
        {%- for key in own -%}
            {%- do on.append("counts." ~ key ~ " is not distinct from spread_" ~ i ~ "." ~ key) -%}
        {%- endfor -%}
        {%- set matched = on | join("\n            and ") -%}
        {%- do joins.append("left join spread_" ~ i ~ "\n        on\n            " ~ matched) -%}
    {%- endif -%}
{%- endfor %}

cells_{{ v }} as (

    select
        counts.effort,
        {%- for leaf in leaves %}
        {{ leaf }} as leaf_{{ loop.index }},
        {%- endfor %}
        sum({{ (["counts.records"] + weights) | join("\n            * ") }}) as records
    from (
        select
            effort,
            {{ keys | join(",\n            ") }},
            sum(records) as records
        from released
        group by
            effort,
            {{ keys | join(",\n            ") }}
    ) as counts
    {%- for join in joins %}
    {{ join }}
    {%- endfor %}
    group by
        counts.effort,
        {{ leaves | join(",\n        ") }}

),

compared_{{ v }} as (

    select
        effort,
        {%- for leaf in leaves %}
        leaf_{{ loop.index }},
        {%- endfor %}
        sum(original) as original,
        sum(released) as released
    from (
        select
            totals.effort,
            {%- for leaf in leaves %}
            cells.leaf_{{ loop.index }},
            {%- endfor %}
            cells.records / whole.records as original,
            0 as released
        from cells_{{ v }} as cells
        inner join totals as whole on cells.effort = whole.effort
        cross join totals
        where cells.effort = 0
        union all
        select
            cells.effort,
            {%- for leaf in leaves %}
            cells.leaf_{{ loop.index }},
            {%- endfor %}
            0 as original,
            cells.records / totals.records as released
        from cells_{{ v }} as cells
        inner join totals on cells.effort = totals.effort
    ) as shares
    group by
        effort
        {%- for leaf in leaves %},
        leaf_{{ loop.index }}
        {%- endfor %}

),
{%- endmacro %}
