{% macro table_cells(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "microdata", "draws", "record_key", "dimensions", "efforts", "sums", "minimum_frequency",
    "content", "protections",
], {"people": none, "counts": "people"}) -%}
{{ config(materialized="table") }}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._require_own_vault(given.anonymization, given.draws, "table_draws") -%}
{%- endif -%}
{%- set by_person = given.people is not none or given.sums -%}
with

{{ dbt_anonymize._labelled(
    given.microdata, given.dimensions, given.efforts, dbt_anonymize._counted_of_records(given)
) }}

{{ dbt_anonymize._contributions(given) if by_person else dbt_anonymize._counted_labels(given.efforts) }}
{%- for number, levels in given.efforts.items() %}

{{ dbt_anonymize._cells_by_person(given, number, levels) if by_person
    else dbt_anonymize._cells_by_count(given, number, levels) }},
{%- endfor %}

cells as (

    select
        all_cells.*,
        {%- set labels, parts = {}, [] %}
        {%- for dimension in given.dimensions %}
        {%- set label = "all_cells.label_" ~ loop.index %}
        {%- if dimension.has_subtotals %}
        {%- set level = dbt_anonymize._as_text("all_cells.level_" ~ loop.index) %}
        {%- set label = dbt_anonymize._concatenated([level, "'^'", label]) %}
        {%- endif %}
        {%- do labels.update({dimension.name: {"label": "all_cells.label_" ~ loop.index, "key": label}}) %}
        {%- endfor %}
        {%- for name in labels.keys() | sort(case_sensitive=true) %}
        {%- set label = labels[name].key %}
        {%- do parts.append(
            "case when " ~ labels[name].label ~ " is null then '-' else " ~ dbt_anonymize._concatenated(
                [dbt_anonymize._as_text("length(" ~ label ~ ")"), "':'", label]
            ) ~ " end"
        ) %}
        {%- if not loop.last %}{%- do parts.append("'|'") %}{%- endif %}
        {%- endfor %}
        {{ dbt_anonymize._concatenated(parts) if parts | length > 1 else parts[0] }} as cell,
        {{ dbt_anonymize._sums_as_text(given.sums) }} as sums
    from (
        {%- for number in given.efforts %}
        select * from cells_{{ number }}
        {{- "\n        union all" if not loop.last }}
        {%- endfor %}
    ) as all_cells

),

{{ dbt_anonymize._earlier_cells(given) }}

select
    coalesce(cells.effort, earlier.effort) as effort,
    coalesce(cells.cell, earlier.cell) as cell,
    {%- for dimension in given.dimensions %}
    cells.label_{{ loop.index }} as {{ dbt_anonymize._quote(dimension.name) }},
    {%- endfor %}
    {%- for dimension in given.dimensions %}
    {%- if dimension.has_subtotals %}
    cells.level_{{ loop.index }} as {{ dbt_anonymize._quote(dimension.name ~ "_level") }},
    {%- endif %}
    {%- endfor %}
    coalesce(cells.people, 0) as people,
    coalesce(cells.keys, 0) as keys,
    {%- for name in given.sums %}
    {%- set place = loop.index %}
    {%- for part, end in {"sum": "", "first": "_first", "second": "_second"}.items() %}
    {%- set figure = "coalesce(cells." ~ part ~ "_" ~ place ~ ", 0)" %}
    {%- if name == given.counts %}{%- set figure = "cast(" ~ figure ~ " as " ~ dbt.type_bigint() ~ ")" %}{%- endif %}
    {{ figure }} as {{ dbt_anonymize._quote(name ~ end) }},
    {%- endfor %}
    {%- if name == given.counts %}
    cells.few_people,
    {%- endif %}
    {%- endfor %}
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
{%- endmacro %}


{# The sums of a cell as one text, by which the vault knows whether they are still the same; empty without any. #}
{% macro _sums_as_text(sums) -%}
    {%- set parts = ["''"] -%}
    {%- for name in sums -%}
        {#- Adding up in another order changes the last digits of a fraction. -#}
        {%- do parts.append(dbt_anonymize._as_text("cast(all_cells.sum_" ~ loop.index ~ " as decimal(38, 4))")) -%}
        {%- do parts.append("' '") -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._concatenated(parts) if sums else "''") }}
{%- endmacro %}


{# What is counted of each record beside its labels: select expressions, joins, and the columns that they give. #}
{% macro _counted_of_records(given) -%}
{%- set key = dbt_anonymize._quote(given.record_key) -%}
{%- set person_key = "cast(floor(drawn.draw * 4294967296) as " ~ dbt.type_bigint() ~ ")" -%}
{%- set no_draw = dbt_anonymize._raise_in_sql(
    model.name ~ ": a person has no draw. Build again from " ~ given.draws.identifier ~ " on.", person_key
) -%}
{%- set columns, selected = ["person", "person_key"], [
    ("microdata.subject" if given.people else "microdata." ~ key) ~ " as person",
    "case\n            when drawn.draw is null\n                then " ~ no_draw
        ~ "\n            else " ~ person_key ~ "\n        end as person_key",
] -%}
{%- for name in given.sums -%}
    {%- do columns.append("sum_" ~ loop.index) -%}
    {%- set amount = "cast(1 as " ~ dbt_anonymize._type_double() ~ ")" if name == given.counts else (
        "coalesce(cast(" ~ dbt_anonymize._quote(name, "microdata") ~ " as " ~ dbt_anonymize._type_double() ~ "), 0)"
    ) -%}
    {%- do selected.append(amount ~ " as sum_" ~ loop.index) -%}
{%- endfor -%}
{%- set joins = "left join " ~ given.draws ~ " as drawn on microdata." ~ key ~ " = drawn.person" -%}
{%- if given.people -%}
    {%- set joins = (
        "left join " ~ given.people.source ~ " as people on microdata." ~ key ~ " = people." ~ key
        ~ "\n    left join " ~ given.draws ~ " as drawn on "
        ~ dbt_anonymize._quote(given.people.column, "people") ~ " = drawn.person"
    ) -%}
{%- endif -%}
{{ return({"columns": columns, "selected": selected, "joins": joins}) }}
{%- endmacro %}


{# CTE `counted`: people and their keys by labels at all levels, where everybody has one record. #}
{% macro _counted_labels(efforts) -%}
{%- set labels = dbt_anonymize._all_labels(efforts) -%}
counted as (

    select
        {{ labels | join(",\n        ") }},
        count(*) as people,
        sum(person_key) as person_keys
    from generalized
    group by
        {{ labels | join(",\n        ") }}

),
{%- endmacro %}


{% macro _cells_by_count(given, number, levels) -%}
cells_{{ number }} as (

    select
        {{ number }} as effort,
        {{ dbt_anonymize._categories(given.dimensions, levels) | join(",\n        ") }},
        cast(sum(people) as {{ dbt.type_bigint() }}) as people,
        cast(sum(person_keys) as {{ dbt.type_bigint() }}) as keys
    from counted
    group by
        {{ dbt_anonymize._all_margins(levels) }}

)
{%- endmacro %}


{#
  The category of each dimension in a cell, select expressions: a label, and of one with subtotals the level that it is
  of. Labels are never NULL but in totals.
#}
{% macro _categories(dimensions, levels) -%}
    {%- set labels, of_labels = [], [] -%}
    {%- for dimension in dimensions -%}
        {%- set place, own, cases = loop.index, [], [] -%}
        {%- for level in levels[place - 1] -%}
            {%- do own.append("label_" ~ place ~ "_" ~ level) -%}
            {%- do cases.append("when " ~ own[-1] ~ " is not null then " ~ level) -%}
        {%- endfor -%}
        {%- set label = own[0] if own | length == 1 else "coalesce(" ~ own | join(", ") ~ ")" -%}
        {%- do labels.append(label ~ " as label_" ~ place) -%}
        {%- if dimension.has_subtotals -%}
            {%- do of_labels.append("case " ~ cases | join(" ") ~ " end as level_" ~ place) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(labels + of_labels) }}
{%- endmacro %}


{# The names of what `_categories` selects. #}
{% macro _category_names(dimensions) -%}
    {%- set labels, of_labels = [], [] -%}
    {%- for dimension in dimensions -%}
        {%- do labels.append("label_" ~ loop.index) -%}
        {%- if dimension.has_subtotals -%}{%- do of_labels.append("level_" ~ loop.index) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(labels + of_labels) }}
{%- endmacro %}


{# Grouping by each label of a dimension, or by none, in all combinations. #}
{% macro _all_margins(levels) -%}
    {%- set flat, groupings = [], [] -%}
    {%- for own in levels -%}
        {%- set place, labels = loop.index, [] -%}
        {%- for level in own | reverse -%}{%- do labels.append("label_" ~ place ~ "_" ~ level) -%}{%- endfor -%}
        {%- if labels | length == 1 -%}
            {%- do flat.append(labels[0]) -%}
        {%- else -%}
            {%- do groupings.append("rollup(" ~ labels | join(", ") ~ ")") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if flat -%}{%- do groupings.insert(0, "cube(" ~ flat | join(", ") ~ ")") -%}{%- endif -%}
    {{ return(groupings | join(",\n        ")) }}
{%- endmacro %}


{# CTE `contributions`: what each person adds, by labels at all levels. #}
{% macro _contributions(given) -%}
{%- set labels = dbt_anonymize._all_labels(given.efforts) -%}
contributions as (

    select
        {{ labels | join(",\n        ") }},
        person,
        max(person_key) as person_key
        {%- for name in given.sums %},
        {%- set value = "sum(sum_" ~ loop.index ~ ")" %}
        case
            {#- Rules judge the largest contributions, and the others may hide negative ones among them. -#}
            {#- Fractions may leave as much of nothing. #}
            when {{ value }} < -0.0001
                then {{ dbt_anonymize._raise_in_sql(
                    model.name ~ ": sums must be of amounts of at least 0; of somebody " ~ name ~ " is below in a cell."
                    ~ " Sum another column, or set negative amounts to NULL in a model before.", value
                ) }}
            else {{ value }}
        end as sum_{{ loop.index }}
        {%- endfor %}
    from generalized
    group by
        {{ labels | join(",\n        ") }},
        person

),
{%- endmacro %}


{# First by person and cell, of all margins; then by cell. #}
{% macro _cells_by_person(given, number, levels) -%}
{%- set names = dbt_anonymize._category_names(given.dimensions) -%}
of_people_{{ number }} as (

    select
        {{ dbt_anonymize._categories(given.dimensions, levels) | join(",\n        ") }},
        person,
        max(person_key) as person_key
        {%- for name in given.sums %},
        sum(sum_{{ loop.index }}) as sum_{{ loop.index }}
        {%- endfor %}
    from contributions
    group by
        person,
        {{ dbt_anonymize._all_margins(levels) }}

),

ranked_{{ number }} as (

    select
        {{ names | join(",\n        ") }},
        person_key
        {%- for name in given.sums %},
        sum_{{ loop.index }},
        row_number() over (
            partition by
                {{ names | join(",\n                ") }}
            order by sum_{{ loop.index }} desc
        ) as rank_{{ loop.index }}
        {%- endfor %}
    from of_people_{{ number }}

),

cells_{{ number }} as (

    select
        {{ number }} as effort,
        {{ names | join(",\n        ") }},
        count(*) as people,
        cast(sum(person_key) as {{ dbt.type_bigint() }}) as keys
        {%- for name in given.sums %},
        {%- set value = "sum_" ~ loop.index %}
        sum({{ value }}) as {{ value }},
        max(case when rank_{{ loop.index }} = 1 then {{ value }} end) as first_{{ loop.index }},
        max(case when rank_{{ loop.index }} = 2 then {{ value }} end) as second_{{ loop.index }}
        {%- if name == given.counts %},
        {%- set records = dbt_anonymize._as_text("cast(" ~ value ~ " as " ~ dbt.type_bigint() ~ ")") %}
        {%- set parts = [dbt_anonymize._as_text("person_key"), "':'", records] %}
        {%- set of_person = dbt_anonymize._concatenated(parts) %}
        case
            when count(*) < {{ given.minimum_frequency }}
                then string_agg({{ of_person }}, ' ' order by person_key) filter (
                    where rank_{{ loop.index }} < {{ given.minimum_frequency }}
                )
        end as few_people
        {%- endif %}
        {%- endfor %}
    from ranked_{{ number }}
    group by
        {{ names | join(",\n        ") }}

)
{%- endmacro %}


{% macro _all_labels(efforts) -%}
    {%- set labels = [] -%}
    {%- for levels in efforts.values() -%}
        {%- for own in levels -%}
            {%- set place = loop.index -%}
            {%- for level in own -%}{%- do labels.append("label_" ~ place ~ "_" ~ level) -%}{%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(labels | unique | list) }}
{%- endmacro %}


{# CTE `earlier`: the cells of earlier releases, for each effort that protects as they did. #}
{% macro _earlier_cells(given) -%}
{%- set releases = load_relation(dbt_anonymize._table_releases(given.anonymization))
    if dbt_anonymize._is_building() -%}
earlier as (
    {%- for number, protection in given.protections.items() %}

    select
        {{ number }} as effort,
        {%- if releases %}
        cell,
        people,
        keys,
        sums,
        status
    from {{ releases }}
    where protection = {{ dbt_anonymize._literal(dbt_anonymize._released_as(protection, given.content)) }}
        {%- else %}
        {{ dbt_anonymize._as_text("null") }} as cell,
        cast(null as {{ dbt.type_bigint() }}) as people,
        cast(null as {{ dbt.type_bigint() }}) as keys,
        {{ dbt_anonymize._as_text("null") }} as sums,
        {{ dbt_anonymize._as_text("null") }} as status
    where 1 = 0
        {%- endif %}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

)
{%- endmacro %}
