{#
  Cell suppression as statements over scratch tables.

    cells   the distinct records, counted: `base_<i>` (label at the base level), `cell_<i>` (what is shown now), what
            guarantees are about (`value_<j>`, `subject`), `records`
    weak    the classes, by `cell_<i>`, that break a guarantee and still show a cell
    moved   of a step: the classes that lose the cell

  A step is about one quasi-identifier: every weak class that shows it is tried without it. Classes that are alike
  otherwise then become one, with the class that shows `*` there already; if that keeps every guarantee, they lose the
  cell. A pass takes the quasi-identifiers from the least to the most important one; then the classes that no single
  cell saves lose the least important one that they show, and after the last pass all. The order of rows never counts,
  and records that look the same always stay so.
#}

{# What the statements need to know, from the arguments of cell_suppression. `order`: of the quasi-identifiers by
   importance, equal ones as declared. #}
{% macro _cell_plan(
    quasi_identifiers, record_key, levels, guarantees, importance, k, has_subject, population_size,
    sensitive_hierarchies
) -%}
    {%- set required = dbt_anonymize._recoding_guarantees(guarantees, k) -%}
    {%- set attributes = dbt_anonymize._guaranteed_attributes(required) -%}
    {%- set leveled, cells, ranked, values = [], [], [], [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- do leveled.append(dict(quasi_identifier, level=levels[quasi_identifier.name])) -%}
        {%- do cells.append("cell_" ~ loop.index) -%}
        {%- do ranked.append({"number": loop.index, "importance": importance.get(quasi_identifier.name, 1)}) -%}
    {%- endfor -%}
    {%- for attribute in attributes -%}{%- do values.append("value_" ~ loop.index) -%}{%- endfor -%}
    {{ return({
        "quasi_identifiers": leveled,
        "record_key": record_key,
        "guarantees": required,
        "attributes": attributes,
        "has_subject": has_subject,
        "population_size": population_size,
        "sensitive_hierarchies": sensitive_hierarchies,
        "cells": cells,
        "values": values + (["subject"] if has_subject else []),
        "order": ranked | sort(attribute="importance") | map(attribute="number") | list,
    }) }}
{%- endmacro %}


{% macro _cell_scratch() -%}{{ return(["cells", "weak", "moved", "next_cells"]) }}{%- endmacro %}


{# Statements before the first pass: every record shows its labels at the base levels. #}
{% macro _cell_setup(microdata, plan) -%}
    {{ return(dbt_anonymize._drop_scratch(dbt_anonymize._cell_scratch()) + [
        dbt_anonymize._create_scratch("cells", dbt_anonymize._cell_first(microdata, plan)),
        dbt_anonymize._create_scratch("weak", dbt_anonymize._cell_weak(plan)),
    ]) }}
{%- endmacro %}


{# Statements that take a cell from the weak classes which that makes good enough. #}
{% macro _cell_step(plan, number) -%}
    {%- set shown = [] -%}
    {%- for cell in plan.cells -%}
        {%- do shown.append(
            "case when moved.cell_1 is null then cells." ~ cell ~ " else '*' end" if loop.index == number
            else "cells." ~ cell
        ) -%}
    {%- endfor -%}
    {{ return(
        [dbt_anonymize._create_scratch("moved", dbt_anonymize._cell_moved(plan, number))]
        + dbt_anonymize._cell_recount(plan, shown, "moved")
        + dbt_anonymize._drop_scratch(["moved"])
    ) }}
{%- endmacro %}


{# Statements that take from all weak classes the least important cell that they show, or at last all. #}
{% macro _cell_forced(plan, takes_all) -%}
    {%- set shown = [] -%}
    {%- for cell in plan.cells -%}
        {%- set conditions = ["weak.cell_1 is not null"] -%}
        {%- for number in plan.order[:plan.order.index(loop.index)] if not takes_all -%}
            {%- do conditions.append("cells.cell_" ~ number ~ " = '*'") -%}
        {%- endfor -%}
        {%- do shown.append("case when " ~ conditions | join(" and ") ~ " then '*' else cells." ~ cell ~ " end") -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._cell_recount(plan, shown, "weak")) }}
{%- endmacro %}


{# Statements that put what is shown now in place, and count again. #}
{% macro _cell_recount(plan, shown, changed) -%}
    {%- set next_cells -%}
select
    {%- for cell in plan.cells %}
    cells.base_{{ loop.index }},
    {{ shown[loop.index0] }}{{ " as " ~ cell if shown[loop.index0] != "cells." ~ cell }},
    {%- endfor %}
    {%- for value in plan["values"] %}
    cells.{{ value }},
    {%- endfor %}
    cells.records
from {{ dbt_anonymize._scratch("cells") }} as cells
left join {{ dbt_anonymize._scratch(changed) }} as {{ changed }}
    on
        {{ dbt_anonymize._equal_columns("cells", changed, plan.cells) | join("\n        and ") }}
    {%- endset -%}
    {{ return(
        [dbt_anonymize._create_scratch("next_cells", next_cells)]
        + dbt_anonymize._drop_scratch(["cells", "weak"])
        + [
            "alter table " ~ dbt_anonymize._scratch("next_cells") ~ " rename to "
            ~ dbt_anonymize._scratch("cells"),
            dbt_anonymize._create_scratch("weak", dbt_anonymize._cell_weak(plan)),
        ]
    ) }}
{%- endmacro %}


{% macro _cell_first(microdata, plan) -%}
with

microdata as (

    select * from {{ microdata }}

),
{%- set columns = plan.attributes + (["subject"] if plan.has_subject else []) %}
{{- dbt_anonymize.generalize("microdata", plan.quasi_identifiers, columns) }}

counted as (

    select
        {%- for quasi_identifier in plan.quasi_identifiers %}
        {{ dbt_anonymize._quote(quasi_identifier.name) }} as base_{{ loop.index }},
        {{ dbt_anonymize._quote(quasi_identifier.name) }} as cell_{{ loop.index }},
        {%- endfor %}
        {%- for attribute in columns %}
        {{ dbt_anonymize._quote(attribute) }} as {{ plan["values"][loop.index0] }},
        {%- endfor %}
        count(*) as records
    from generalized
    group by
        {%- for quasi_identifier in plan.quasi_identifiers %}
        {{ dbt_anonymize._quote(quasi_identifier.name) }}{{ "," if not loop.last or columns }}
        {%- endfor %}
        {%- for attribute in columns %}
        {{ dbt_anonymize._quote(attribute) }}{{ "," if not loop.last }}
        {%- endfor %}

)

select * from counted
{%- endmacro %}


{# The classes that break a guarantee about classes and are not `*` everywhere. #}
{% macro _cell_weak(plan) -%}
{%- set shows = [] -%}
{%- for cell in plan.cells -%}{%- do shows.append("dbt_anonymize_" ~ cell ~ " <> '*'") -%}{%- endfor -%}
with

generalized as (

    select
        {{- dbt_anonymize._cell_columns(plan) }}
    from {{ dbt_anonymize._scratch("cells") }} as cells

),
{{- dbt_anonymize._cell_classes(plan, none) }}

weak as (

    select
        {%- for cell in plan.cells %}
        dbt_anonymize_{{ cell }} as {{ cell }}{{ "," if not loop.last }}
        {%- endfor %}
    from classes
    where
        is_violating
        and ({{ shows | join(" or ") }})

)

select * from weak
{%- endmacro %}


{# The weak classes that are good enough without a cell, with all that become one with them. #}
{% macro _cell_moved(plan, number) -%}
{%- set others = plan.cells | reject("equalto", "cell_" ~ number) | list -%}
with

all_rows as (

    select
        {{- dbt_anonymize._cell_values(plan) }}
        records
    from {{ dbt_anonymize._scratch("cells") }}

),
{{- dbt_anonymize._global_distributions(
    "all_rows", plan.attributes, plan.guarantees, "whole_", "sum(records)", plan.has_subject, plan.population_size,
    plan.sensitive_hierarchies
) }}

weak as (

    select * from {{ dbt_anonymize._scratch("weak") }}
    where cell_{{ number }} <> '*'

),

targets as (

    select distinct {{ others | join(", ") if others else "1 as nothing" }}
    from weak

),

generalized as (

    select
        {{- dbt_anonymize._cell_columns(plan, number) }}
    from {{ dbt_anonymize._scratch("cells") }} as cells
    inner join weak
        on
            {{ dbt_anonymize._equal_columns("cells", "weak", plan.cells) | join("\n            and ") }}

    union all

    select
        {{- dbt_anonymize._cell_columns(plan, number) }}
    from {{ dbt_anonymize._scratch("cells") }} as cells
    inner join targets
        on
            cells.cell_{{ number }} = '*'
            {%- for condition in dbt_anonymize._equal_columns("cells", "targets", others) %}
            and {{ condition }}
            {%- endfor %}

),
{{- dbt_anonymize._cell_classes(plan, "whole_") }}

moved as (

    select weak.*
    from weak
    inner join classes
        on
            classes.dbt_anonymize_cell_{{ number }} = '*'
            {%- for cell in others %}
            and weak.{{ cell }} = classes.dbt_anonymize_{{ cell }}
            {%- endfor %}
    where not classes.is_violating

)

select * from moved
{%- endmacro %}


{# The cells as keys of classes, one of them as `*`; what guarantees are about under its own name; records. #}
{% macro _cell_columns(plan, suppressed=none) -%}
    {%- for cell in plan.cells %}
        {{ dbt_anonymize._as_text("'*'") if loop.index == suppressed else "cells." ~ cell }}
        {{- " as dbt_anonymize_" ~ cell }},
    {%- endfor %}
    {%- for attribute in plan.attributes %}
        cells.value_{{ loop.index }} as {{ dbt_anonymize._quote(attribute) }},
    {%- endfor %}
    {%- if plan.has_subject %}
        cells.subject,
    {%- endif %}
        cells.records
{%- endmacro %}


{% macro _cell_classes(plan, distributions) -%}
    {%- set keys = [] -%}
    {%- for cell in plan.cells -%}{%- do keys.append("dbt_anonymize_" ~ cell) -%}{%- endfor -%}
    {{ dbt_anonymize._measured_classes(
        keys,
        plan.guarantees,
        sensitive=plan.attributes,
        has_subject=plan.has_subject,
        distributions=distributions,
        population_size=plan.population_size,
        sensitive_hierarchies=plan.sensitive_hierarchies,
    ) }}
{%- endmacro %}


{# One row per record: the label, bounds, level and share of every cell; a suppressed one is the root. #}
{% macro _cell_result(microdata, plan) -%}
with

microdata as (

    select * from {{ microdata }}

),
{{- dbt_anonymize.generalize("microdata", plan.quasi_identifiers, [plan.record_key], has_shares=true) }}

shown as (

    select distinct
        {%- for cell in plan.cells %}
        base_{{ loop.index }},
        {{ cell }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ dbt_anonymize._scratch("cells") }}

)

select
    {{ dbt_anonymize._quote(plan.record_key, "generalized") }}
    {%- for quasi_identifier in plan.quasi_identifiers %}
    {%- set name, cell, number = quasi_identifier.name, "shown.cell_" ~ loop.index, loop.index %},
    {{ cell }} as {{ dbt_anonymize._quote(name) }},
    {%- for end in ["lower", "upper"] if quasi_identifier.kind == "interval" %}
    {%- set bound = name ~ "_" ~ end %}
    case
        when {{ cell }} = '*' then range_{{ number }}.range_{{ end }}
        else {{ dbt_anonymize._quote(bound, "generalized") }}
    end as {{ dbt_anonymize._quote(bound) }},
    {%- endfor %}
    cast(
        case when {{ cell }} = '*' then {{ quasi_identifier.levels }} else {{ quasi_identifier.level }} end
        as {{ dbt.type_int() }}
    ) as {{ dbt_anonymize._quote(name ~ "_level") }},
    cast(
        case when {{ cell }} = '*' then 1 else {{ dbt_anonymize._quote(name ~ "_share", "generalized") }} end
        as {{ dbt_anonymize._type_double() }}
    ) as {{ dbt_anonymize._quote(name ~ "_share") }}
    {%- endfor %}
from generalized
inner join shown
    on
        {%- for quasi_identifier in plan.quasi_identifiers %}
        {{ "and " if not loop.first }}{{ dbt_anonymize._quote(quasi_identifier.name, "generalized") }}
        {{- " = shown.base_" ~ loop.index }}
        {%- endfor %}
{%- for quasi_identifier in plan.quasi_identifiers if quasi_identifier.kind == "interval" %}
cross join range_{{ plan.quasi_identifiers.index(quasi_identifier) + 1 }}
{%- endfor %}
{%- endmacro %}


{# Columns that guarantees are about, under their own names, each followed by a comma. #}
{% macro _cell_values(plan) -%}
    {%- for attribute in plan.attributes %}
        value_{{ loop.index }} as {{ dbt_anonymize._quote(attribute) }},
    {%- endfor %}
    {%- if plan.has_subject %}
        subject,
    {%- endif %}
{%- endmacro %}
