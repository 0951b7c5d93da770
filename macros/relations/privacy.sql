{% macro privacy(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "classes", "efforts", "sensitive", "guarantees", "suppression_limit",
], {"population_size": none, "released": none}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._after_steps() + dbt_anonymize._analyzed()) }}
{%- set bigint = dbt.type_bigint() -%}
{%- set measures = [] -%}
{%- for attribute in dbt_anonymize._measured_columns(given.sensitive, given.guarantees) -%}
    {%- do measures.extend(dbt_anonymize._attribute_measures(attribute, given.guarantees, true)) -%}
{%- endfor -%}
{%- set may_be_suppressed = dbt_anonymize._may_be_suppressed(given.suppression_limit, "counts.records") -%}
{%- set broken = dbt_anonymize._parts_of_violations(given.guarantees) -%}
{%- set figures = dbt_anonymize._figures_of_guarantees(given.guarantees) -%}
{%- set risks = dict(dbt_anonymize._risks_of_effort(), **figures.aggregates) -%}
{%- set rounds = ["alpha_1", "alpha_2", "alpha_3", "alpha_4", "logit_2", "logit_5"] -%}
{% call dbt_anonymize._in_steps(["sizes", "samples"] + rounds + ["uniques"] if given.population_size else []) -%}
with

classes as (

    select * from {{ given.classes }}

),

released as (

    {{ dbt_anonymize._classes_of_release(given.released, measures) | indent(4) }}

),
{%- if given.population_size %}

sizes as (

    select
        effort as case_id,
        class_size,
        count(*) as classes
    from released
    group by
        effort,
        class_size

),
{{- dbt_anonymize._population_uniques("sizes", "dankar", given.population_size) }}
{%- endif %}

efforts as (

    {{ dbt_anonymize._numbers_of_efforts(given.efforts) | indent(4) }}

),

counts as (

    select
        effort,
        sum(records) as records,
        sum(case when is_suppressed then records else 0 end) as suppressed_records,
        sum(case when is_violating then records else 0 end) as violating_records
        {%- for part in broken %},
        sum(case when is_violating and {{ part.condition }} then records else 0 end) as broken_{{ loop.index }}
        {%- endfor %}
    from classes
    group by effort

),

{{ dbt_anonymize._measured_efforts(risks, measures) }}

select
    efforts.effort,
    cast(measured.k as {{ bigint }}) as k,
    cast(coalesce(measured.equivalence_classes, 0) as {{ bigint }}) as equivalence_classes,
    cast(coalesce(counts.records, 0) as {{ bigint }}) as records,
    cast(coalesce(measured.released_records, 0) as {{ bigint }}) as released_records,
    cast(coalesce(counts.suppressed_records, 0) as {{ bigint }}) as suppressed_records,
    cast(coalesce(counts.violating_records, 0) as {{ bigint }}) as violating_records,
    coalesce(
        efforts.effort > 0
        and measured.released_records > 0
        and counts.violating_records <= {{ may_be_suppressed }},
        false
    ) as meets_guarantees,
    {{ dbt_anonymize._broken_text(broken) }} as broken_guarantees,
    {%- for name in risks %}
    measured.{{ name }},
    {%- endfor %}
    {%- for name, sql in figures.columns.items() %}
    {{ sql }} as {{ name }},
    {%- endfor %}
    {%- if given.population_size %}
    uniques.uniques / {{ given.population_size }} as population_uniqueness
    {%- else %}
    cast(null as {{ dbt_anonymize._type_double() }}) as population_uniqueness
    {%- endif %}
    {%- for measure in measures %},
    measured.{{ dbt_anonymize._quote(measure.column) }}
    {%- endfor %}
from efforts
left join counts on efforts.effort = counts.effort
left join measured on efforts.effort = measured.effort
{%- if given.population_size %}
left join uniques on efforts.effort = uniques.case_id
{%- endif %}
order by efforts.effort
{%- endcall %}
{%- endmacro %}


{# CTE `measured`: what the released classes of each effort come to. #}
{% macro _measured_efforts(risks, measures) -%}
measured as (

    select
        effort,
        min(class_size) as k,
        count(*) as equivalence_classes,
        sum(records) as released_records
        {%- for name, risk in risks.items() %},
        {{ risk | indent(8) }} as {{ name }}
        {%- endfor %}
        {%- for measure in measures %},
        {{ dbt_anonymize._worst_of_classes(measure) }} as {{ dbt_anonymize._quote(measure.column) }}
        {%- endfor %}
    from released
    group by effort

)
{%- endmacro %}


{# The classes that are released: by default all that are not suppressed. #}
{% macro _classes_of_release(released, measures) -%}
    {%- if not released -%}
        {{ return("select * from classes\nwhere not is_suppressed") }}
    {%- endif -%}
    {%- set told = ["effort", "class_size", "records", "population_size"] -%}
    {%- for measure in measures -%}{%- do told.append(dbt_anonymize._quote(measure.column)) -%}{%- endfor -%}
    {{ return(dbt_anonymize._told_classes("classes", released, told)) }}
{%- endmacro %}


{# The risks of an effort, as aggregates over its released classes. Of the population: NULL without its table. #}
{% macro _risks_of_effort() -%}
    {%- set prosecutor, journalist = dbt_anonymize._prosecutor_risks(), dbt_anonymize._journalist_risks() -%}
    {{ return({
        "highest_risk": prosecutor.highest_risk,
        "average_risk": prosecutor.average_risk,
        "sample_uniqueness": dbt_anonymize._share_of_size_one("class_size"),
        "journalist_highest_risk": journalist.highest_risk,
        "journalist_average_risk": journalist.average_risk,
        "marketer_risk": dbt_anonymize._marketer_risk(),
    }) }}
{%- endmacro %}


{# The worst value of a measure among classes, the smallest or the largest; NULL is infinite. #}
{% macro _worst_of_classes(measure) -%}
    {%- set column = dbt_anonymize._quote(measure.column) -%}
    {%- if measure.worst == "min" -%}
        {{ return("min(" ~ column ~ ")") }}
    {%- endif -%}
    {{ return("case when count(" ~ column ~ ") = count(*) then max(" ~ column ~ ") end") }}
{%- endmacro %}


{#
  By which guarantees records have to go, each with its condition over the classes. What no class shows by itself comes
  last: an average over all classes, a size that an estimate demands, and the k of an effort.
#}
{% macro _parts_of_violations(guarantees) -%}
    {%- set parts, all_conditions, others = [], [], [] -%}
    {%- for guarantee in guarantees -%}
        {%- set privacy_model = dbt_anonymize._privacy_model(guarantee) -%}
        {%- set conditions = [] -%}
        {%- if not privacy_model.is_estimated -%}
            {%- do conditions.extend(dbt_anonymize._violated_conditions([guarantee], "", guarantees)) -%}
        {%- endif -%}
        {%- set name = dbt_anonymize._guarantee_name(guarantee) -%}
        {%- if conditions -%}
            {%- do parts.append({"name": name, "condition": "(" ~ conditions | join(" or ") ~ ")"}) -%}
            {%- do all_conditions.extend(conditions) -%}
        {%- endif -%}
        {%- if privacy_model.average_risk or privacy_model.is_estimated -%}{%- do others.append(name) -%}{%- endif -%}
    {%- endfor -%}
    {%- do parts.append({
        "name": others | join(" or ") or "the k of the effort",
        "condition": "not coalesce(" ~ all_conditions | unique(case_sensitive=true) | join(" or ") ~ ", false)",
    }) -%}
    {{ return(parts) }}
{%- endmacro %}


{# SQL of a text that says how many records break what, or NULL where none does. #}
{% macro _broken_text(parts) -%}
    {%- set texts = [] -%}
    {%- for part in parts -%}
        {%- set number = "counts.broken_" ~ loop.index -%}
        {%- do texts.append(
            "case when " ~ number ~ " > 0 then "
            ~ dbt.concat(["', '", dbt_anonymize._as_text(number), dbt_anonymize._literal(" " ~ part.name)])
            ~ " else '' end"
        ) -%}
    {%- endfor -%}
    {{ return("nullif(substring(" ~ dbt.concat(texts) ~ ", 3), '')") }}
{%- endmacro %}


{# Query of the classes of which `columns` are told where records wait: of the untouched table, and those released. #}
{% macro _told_classes(classes, released, columns) -%}
    {%- set listed = columns | join(", ") -%}
    {{ return(
        "select " ~ listed ~ " from " ~ classes ~ " where effort = 0 union all select " ~ listed ~ " from " ~ released
    ) }}
{%- endmacro %}
