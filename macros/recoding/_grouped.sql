{# Statements that write the scratch tables of Mondrian for groups that are given. #}
{% macro _grouped_setup(microdata, groups, plan) -%}
    {%- set statements = dbt_anonymize._drop_scratch(
        dbt_anonymize._mondrian_scratch(plan.quasi_identifiers | length)
    ) -%}
    {%- for quasi_identifier in plan.quasi_identifiers -%}
        {%- set leaves = dbt_anonymize._coded_leaves(quasi_identifier) -%}
        {%- do statements.append(dbt_anonymize._create_scratch("leaves_" ~ loop.index, leaves)) -%}
    {%- endfor -%}
    {%- for name, sql in [
        ("encoded", dbt_anonymize._mondrian_encoded(microdata, plan)),
        ("done_rows", dbt_anonymize._grouped_rows(microdata, groups, plan)),
    ] -%}
        {%- do statements.append(dbt_anonymize._create_scratch(name, sql)) -%}
    {%- endfor -%}
    {{ return(statements) }}
{%- endmacro %}


{# The group of each record, by its values as text. #}
{% macro _grouped_rows(microdata, groups, plan) -%}
select
    grouped.part,
    {{ dbt_anonymize._columns_of("encoded", plan.finished) | join(",\n    ") }}
from {{ microdata }} as microdata
inner join {{ dbt_anonymize._scratch("encoded") }} as encoded
    on {{ dbt_anonymize._quote(plan.record_key, "microdata") }} = encoded.record_key
inner join {{ groups }} as grouped
    on
        {%- for quasi_identifier in plan.quasi_identifiers %}
        {{ "and " if not loop.first -}}
        {%- set value = dbt_anonymize._as_text(dbt_anonymize._quote(quasi_identifier.name, "microdata")) -%}
        {{ value }} is not distinct from grouped.q_{{ loop.index }}
        {%- endfor %}
{%- endmacro %}


{#
  One row per record: what is released of its group. `recoded` has the labels that Mondrian would give; `members` how
  far each number is from both bounds of its group, and the leaf of each category; `means` what a number is replaced by,
  NULL where the interval stays; `modes_<i>` what a category is.
#}
{% macro _grouped_result(microdata, plan, numbers, p_percent, categories="ancestor") -%}
{%- set intervals, modes = [], [] -%}
{%- for quasi_identifier in plan.quasi_identifiers -%}
    {%- if quasi_identifier.kind == "interval" and numbers != "interval" -%}
        {%- do intervals.append(quasi_identifier) -%}
    {%- elif quasi_identifier.kind != "interval" and categories == "mode" -%}
        {%- do modes.append({"name": quasi_identifier.name, "place": loop.index}) -%}
    {%- endif -%}
{%- endfor -%}
{%- if not intervals and not modes -%}
{{ dbt_anonymize._mondrian_result(plan) }}
{%- else -%}
with

recoded as (

    {{ dbt_anonymize._mondrian_result(plan) | indent(4) }}

),

{{ dbt_anonymize._grouped_members(microdata, plan, intervals, modes) }}

{{ dbt_anonymize._grouped_means(plan, intervals, numbers, p_percent) }}
{%- for mode in modes %}
{{- dbt_anonymize._grouped_mode(mode.place) }}
{%- endfor %}

{{ dbt_anonymize._grouped_labels(plan, intervals, modes) }}
{%- endif -%}
{%- endmacro %}


{# CTE `members`: above_<i> and below_<i> are how far the i-th number is from the bounds of its group, leaf_<i> is the
   code of the leaf of the i-th quasi-identifier. #}
{% macro _grouped_members(microdata, plan, intervals, modes) -%}
{%- set key = dbt_anonymize._quote(plan.record_key) -%}
members as (

    select
        encoded.record_key,
        done_rows.part,
        {{ "encoded.subject" if plan.has_subject else "encoded.record_key" }} as holder
        {%- for quasi_identifier in intervals %}
        {%- set name, hierarchy = quasi_identifier.name, quasi_identifier.hierarchy %}
        {%- set value = dbt_anonymize._quote(name, "microdata") %}
        {%- set lower = dbt_anonymize._quote(name ~ "_lower", "recoded") %}
        {%- set upper = dbt_anonymize._quote(name ~ "_upper", "recoded") %},
        {{ lower }} as lower_{{ loop.index }},
        {{ dbt_anonymize._width(lower, value, hierarchy) }} as above_{{ loop.index }},
        {{ dbt_anonymize._width(value, upper, hierarchy) }} as below_{{ loop.index }},
        {{ dbt_anonymize._width(lower, upper, hierarchy) }} as span_{{ loop.index }}
        {%- endfor %}
        {%- for mode in modes %},
        encoded.{{ plan.codes[mode.place - 1] }} as leaf_{{ mode.place }}
        {%- endfor %}
    from {{ dbt_anonymize._scratch("encoded") }} as encoded
    inner join {{ dbt_anonymize._scratch("done_rows") }} as done_rows
        on
            {{ dbt_anonymize._equal_columns("encoded", "done_rows", plan.identity) | join("\n            and ") }}
    inner join recoded on encoded.record_key = recoded.{{ key }}
    inner join {{ microdata }} as microdata on encoded.record_key = microdata.{{ key }}

),
{%- endmacro %}


{#
  CTEs that end in `means`: one row per group, with label_<i> of the i-th number. The p %-rule: whoever is in the group
  knows its mean, bounds and size and all records of one holder, say those of the highest values. Then another value can
  be anywhere within a share p of the interval at least, or the interval is released and not the mean.
#}
{% macro _grouped_means(plan, intervals, numbers, p_percent) -%}
{%- set share = dbt_anonymize._number(p_percent) ~ " / 100.0" -%}
{%- for quasi_identifier in intervals %}
range_{{ loop.index }} as (

    select
        width,
        power(10, greatest(0, 3 - floor(log10(width)))) as scale
    from (
        select {{ dbt_anonymize._width("min(lower_bound)", "max(upper_bound)", quasi_identifier.hierarchy) }} as width
        from {{ quasi_identifier.hierarchy }}
    ) as widths

),
{% endfor %}
{%- if numbers == "median" %}
{%- for quasi_identifier in intervals %}
placed_{{ loop.index }} as (

    select
        part,
        above_{{ loop.index }} as above,
        row_number() over (partition by part order by above_{{ loop.index }}, record_key) as place,
        count(*) over (partition by part) as records
    from members
    where above_{{ loop.index }} is not null

),

median_{{ loop.index }} as (

    select
        part,
        above
    from placed_{{ loop.index }}
    where place = floor((records + 1) / 2)

),
{% endfor %}
{%- endif %}
holders as (

    select
        part,
        count(*) as records
        {%- for quasi_identifier in intervals %},
        min(lower_{{ loop.index }}) as lower_{{ loop.index }},
        max(span_{{ loop.index }}) as span_{{ loop.index }},
        count(above_{{ loop.index }}) as known_{{ loop.index }},
        sum(above_{{ loop.index }}) as above_{{ loop.index }},
        sum(below_{{ loop.index }}) as below_{{ loop.index }}
        {%- endfor %}
    from members
    group by
        part,
        holder

),

groups as (

    select
        part,
        sum(records) as records,
        sum(records) - max(records) as others
        {%- for quasi_identifier in intervals %},
        min(lower_{{ loop.index }}) as lower_{{ loop.index }},
        max(span_{{ loop.index }}) as span_{{ loop.index }},
        sum(known_{{ loop.index }}) as known_{{ loop.index }},
        sum(above_{{ loop.index }}) as above_{{ loop.index }},
        sum(above_{{ loop.index }}) - max(above_{{ loop.index }}) as above_others_{{ loop.index }},
        sum(below_{{ loop.index }}) - max(below_{{ loop.index }}) as below_others_{{ loop.index }}
        {%- endfor %}
    from holders
    group by part

),

means as (

    select
        groups.part
        {%- for quasi_identifier in intervals %},
        case
            {#- NULL is a value of its own: a group with one has no mean. #}
            when groups.known_{{ loop.index }} < groups.records then null
            {%- if numbers == "median" %}
            else {{ dbt_anonymize._representative(
                "groups.lower_" ~ loop.index, "median_" ~ loop.index ~ ".above", "range_" ~ loop.index ~ ".scale",
                quasi_identifier.hierarchy, " " * 12
            ) }}
            {%- else %}
            when
                groups.others >= 2
                and groups.above_others_{{ loop.index }} >= {{ share }} * groups.span_{{ loop.index }}
                and groups.below_others_{{ loop.index }} >= {{ share }} * groups.span_{{ loop.index }}
                then {{ dbt_anonymize._representative(
                    "groups.lower_" ~ loop.index, "groups.above_" ~ loop.index ~ " / groups.records",
                    "range_" ~ loop.index ~ ".scale", quasi_identifier.hierarchy, " " * 16
                ) }}
            {%- endif %}
        end as label_{{ loop.index }}
        {%- endfor %}
    from groups
    {%- for quasi_identifier in intervals %}
    cross join range_{{ loop.index }}
    {%- if numbers == "median" %}
    left join median_{{ loop.index }} on groups.part = median_{{ loop.index }}.part
    {%- endif %}
    {%- endfor %}

),
{%- endmacro %}


{#
  The text of a mean or median that is so far `above` a lower bound; `scale` is how many steps make a whole number.
  Numbers are rounded to a thousandth of the range of the hierarchy or finer (whole numbers where the range is 1000 or
  more), dates to the day, points in time to the second; half is rounded up.
#}
{% macro _representative(lower, above, scale, hierarchy, indent) -%}
    {%- set types = dbt_anonymize._bound_columns(hierarchy) | map(attribute="dtype") | map("lower") | list -%}
    {%- set whole = "cast(floor(" ~ above ~ " + 0.5) as " ~ dbt.type_int() ~ ")" -%}
    {%- if "timestamp" in types | join(" ") -%}
        {%- set whole = "cast(floor(" ~ above ~ " + 0.5) as " ~ dbt.type_bigint() ~ ")" -%}
        {{ return(dbt_anonymize._as_text(dbt.dateadd("second", whole, lower))) }}
    {%- elif "date" in types -%}
        {{ return(dbt_anonymize._as_text("cast(" ~ dbt.dateadd("day", whole, lower) ~ " as date)")) }}
    {%- endif -%}
    {%- set value = "(cast(" ~ lower ~ " as " ~ dbt_anonymize._type_double() ~ ") + " ~ above ~ ")" -%}
    {{ return(
        "cast(\n" ~ indent ~ "    floor(" ~ value ~ " * " ~ scale ~ " + 0.5)\n" ~ indent ~ "    / " ~ scale
        ~ " as " ~ dbt.type_string() ~ "\n" ~ indent ~ ")"
    ) }}
{%- endmacro %}


{# The final select. Groups that look the same are one class, which has the bounds of both, and of modes the level that
   covers both. #}
{% macro _grouped_labels(plan, intervals, modes) -%}
{%- set key, labels = plan.record_key, dbt_anonymize._quoted_names(plan.quasi_identifiers) -%}
{%- set places, widest = {}, {} -%}
{%- for quasi_identifier in intervals -%}
    {%- set name = quasi_identifier.name -%}
    {%- do places.update({name: loop.index}) -%}
    {%- do widest.update({name ~ "_lower": "min", name ~ "_upper": "max"}) -%}
{%- endfor -%}
{%- for mode in modes -%}
    {%- do widest.update({mode.name ~ "_level": "max", mode.name ~ "_share": "max"}) -%}
{%- endfor -%}
{%- set replaced = dict(places) -%}
{%- for mode in modes -%}{%- do replaced.update({mode.name: mode.place}) -%}{%- endfor -%}
labelled as (

    select
        {{ dbt_anonymize._quote(key, "recoded") }}
        {%- for quasi_identifier in plan.quasi_identifiers %}
        {%- set name, place = quasi_identifier.name, replaced[quasi_identifier.name] %}
        {%- set mean = "means.label_" ~ place if name in places else none %}
        {%- for column in dbt_anonymize._recoded_columns(quasi_identifier) if not mean or column != name ~ "_share" %},
        {%- set quoted = dbt_anonymize._quote(column, "recoded") %}
        {%- if column == name and place %}
        coalesce({{ mean or "modes_" ~ place ~ ".label" }}, {{ quoted }}) as {{ dbt_anonymize._quote(column) }}
        {%- elif mean and column == name ~ "_level" %}
        case when {{ mean }} is null then {{ quoted }} end as {{ dbt_anonymize._quote(column) }}
        {%- else %}
        {{ quoted }}
        {%- endif %}
        {%- endfor %}
        {%- endfor %}
    from recoded
    inner join members on {{ dbt_anonymize._quote(key, "recoded") }} = members.record_key
    inner join means on members.part = means.part
    {%- for mode in modes %}
    left join modes_{{ mode.place }} on members.part = modes_{{ mode.place }}.part
    {%- endfor %}

),

joined as (

    select
        {{ dbt_anonymize._quote(key) }}
        {%- for quasi_identifier in plan.quasi_identifiers %}
        {%- set name = quasi_identifier.name %}
        {%- for column in dbt_anonymize._recoded_columns(quasi_identifier)
            if name not in places or column != name ~ "_share" %}
        {%- set quoted = dbt_anonymize._quote(column) %}
        {%- if column in widest %},
        {{ widest[column] }}({{ quoted }}) over (partition by {{ labels | join(", ") }}) as {{ quoted }}
        {%- else %},
        {{ quoted }}
        {%- endif %}
        {%- endfor %}
        {%- endfor %}
    from labelled

)

select
    {{ dbt_anonymize._quote(key, "joined") }}
    {%- for quasi_identifier in plan.quasi_identifiers %}
    {%- set name, place = quasi_identifier.name, places[quasi_identifier.name] %}
    {%- for column in dbt_anonymize._recoded_columns(quasi_identifier) %},
    {%- if place and column == name ~ "_share" %}
    case
        when {{ dbt_anonymize._quote(name, "joined") }} = '*' then cast(1 as {{ dbt_anonymize._type_double() }})
        else
            {{ dbt_anonymize._width(
                dbt_anonymize._quote(name ~ "_lower", "joined"), dbt_anonymize._quote(name ~ "_upper", "joined"),
                quasi_identifier.hierarchy
            ) }}
            / range_{{ place }}.width
    end as {{ dbt_anonymize._quote(column) }}
    {%- else %}
    {{ dbt_anonymize._quote(column, "joined") }}
    {%- endif %}
    {%- endfor %}
    {%- endfor %}
from joined
{%- for quasi_identifier in intervals %}
cross join range_{{ loop.index }}
{%- endfor %}
{%- endmacro %}


{% macro _quoted_names(quasi_identifiers) -%}
    {%- set quoted = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- do quoted.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
    {%- endfor -%}
    {{ return(quoted) }}
{%- endmacro %}
