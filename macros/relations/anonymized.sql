{% macro anonymized(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "results", "efforts", "quasi_identifiers", "kept_columns", "guarantees", "suppression_limit",
    "fingerprint", "microdata", "classes", "record_key", "levels",
], {
    "has_subject": false, "population": none, "population_size": none, "sensitive_hierarchies": {}, "mapping": "class",
    "identifiers": none, "tokens": none, "composition": "report", "recompute": none, "sample": none,
    "sample_shares": {}, "budget": none, "with_modes": [], "formats": ["duckdb"], "membership": none, "labels": none,
    "hierarchies": [], "is_counted": false, "measured": [], "about": none, "has_midpoints": false,
    "shown": {}, "people": none, "external": [], "beside": {}, "obstacles": {},
    "read_beside": [], "registers": {}, "composition_beside": none, "starred": [],
}) -%}
{%- set is_counted = given.is_counted and dbt_anonymize._is_counted_here() -%}
{%- set generalized = [] -%}
{%- set declared, aggregated = [], [] -%}
{%- for number, effort in given.shown.items() -%}{%- do aggregated.append([number, effort.k]) -%}{%- endfor -%}
{%- set shown, intervals = [], [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do declared.append({"name": quasi_identifier.name, "kind": quasi_identifier.kind}) -%}
    {%- do generalized.extend(dbt_anonymize._label_columns(quasi_identifier)) -%}
{%- endfor -%}
{%- for quasi_identifier in given.quasi_identifiers if quasi_identifier.name not in given.starred -%}
    {%- do shown.extend(dbt_anonymize._label_columns(quasi_identifier)) -%}
    {%- if given.has_midpoints and quasi_identifier.kind == "interval" -%}
        {%- do shown.append(quasi_identifier.name ~ "_midpoint") -%}
        {%- do intervals.append(quasi_identifier.name) -%}
    {%- endif -%}
{%- endfor -%}
{%- set mapped = {"class": ["cqi"], "token": ["token"], "none": []}[given.mapping] -%}
{%- set released = shown + given.kept_columns + mapped -%}
{%- set registers = [] -%}
{%- for name, one in given.registers.items() -%}
    {%- do registers.append({"figures": name, "kept": one.kept, "columns": one.columns}) -%}
{%- endfor -%}
{#- Lists where tuples would do: `state:modified` compares with what JSON has kept. -#}
{{ config(
    materialized="dbt_anonymize_release",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    schema=dbt_anonymize._release_schema(),
    meta={"dbt_anonymize": {
        "anonymization": given.anonymization,
        "guarantees": given.guarantees,
        "columns": released,
        "is_counted": is_counted,
        "mapping": given.mapping,
        "quasi_identifiers": declared,
        "suppression_limit": given.suppression_limit,
        "record_key": given.record_key,
        "has_subject": given.has_subject,
        "folder": dbt_anonymize._release_folder(),
        "composition": given.composition,
        "composition_beside": given.composition_beside,
        "formats": given.formats,
        "recompute": given.recompute,
        "sample_shares": given.sample_shares.items() | map("list") | list,
        "levels": given.levels.items() | map("list") | list,
        "hierarchies": given.hierarchies,
        "external": given.external,
        "beside": given.beside.keys() | list,
        "columns_beside": given.beside.values() | map(attribute="columns") | list,
        "obstacles": given.obstacles.keys() | list,
        "read_beside": given.read_beside,
        "registers": registers,
        "budget": given.budget,
        "about": {"said": given.about.items() | map("list") | list} if given.about else none,
        "aggregates": aggregated,
        "people": {"named": given.people.named, "column": given.people.column} if given.people else none,
        "waits": {"columns": generalized + given.kept_columns, "labels": given.labels} if given.membership else none,
    }},
) }}
{%- do dbt_anonymize._recomputed_from(given.recompute) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._require_own_vault(given.anonymization, given.membership, "membership") -%}
    {%- do dbt_anonymize._require_own_vault(given.anonymization, given.sample if given.budget else none, "sample") -%}
{%- endif -%}
{%- set chosen = dbt_anonymize._chosen_effort(given.anonymization, given.results, given.efforts, given.fingerprint) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- if chosen in given.external -%}
        {%- do dbt_anonymize._check_external_release(given, chosen) -%}
    {%- else -%}
        {%- do dbt_anonymize._check_context(given, chosen) -%}
    {%- endif -%}
{%- endif -%}
{%- set middles = dbt_anonymize._midpoints(given.efforts[chosen], intervals) -%}
{%- if given.membership -%}
    {{ return(dbt_anonymize._released_members(
        given.membership, generalized + given.kept_columns, given.tokens if given.mapping == "token" else none,
        given.mapping == "class", is_counted, shown + given.kept_columns, middles
    )) }}
{%- endif -%}
{%- if is_counted -%}
    {{ return(dbt_anonymize._counted_release(
        given.efforts[chosen], shown + given.kept_columns, given.mapping == "class", middles
    )) }}
{%- endif -%}
{{- dbt_anonymize._ordered_release(given, chosen, shown + given.kept_columns, middles) }}
{%- endmacro %}


{# Whether the query puts rows in their order; elsewhere what is published is put in order as it is written. #}
{% macro _is_ordered_here() -%}
    {{ return(adapter.dispatch("_is_ordered_here", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___is_ordered_here() -%}{{ return(true) }}{%- endmacro %}


{# Query of the rows of the release, in their order; where an effort has levels, and shows them, labels decide the
   class. #}
{% macro _ordered_release(given, chosen, released, middles="") -%}
{%- set mapping, record_key = given.mapping, given.record_key -%}
{%- set is_ordered = dbt_anonymize._is_ordered_here() -%}
{%- set classes = given.classes if is_ordered and given.levels.get(chosen) is not none
    and chosen not in given.shown else none -%}
{#- One number per class sorts as all labels do, and much faster. -#}
{%- set joined = (["class_order"] if classes else []) + (["tokens"] if mapping == "token" else []) -%}
{%- set from_effort = "effort" if joined else none -%}
with

effort as (

    select *{{ middles }} from {{ given.efforts[chosen] }}

){{ "," if joined }}
{%- if classes %}

class_order as (

    select
        equivalence_class,
        row_number() over (
            order by
                {%- for quasi_identifier in given.quasi_identifiers %}
                {{ dbt_anonymize._quote(quasi_identifier.name) }}{{ "," if not loop.last }}
                {%- endfor %}
        ) as class_number
    from {{ classes }}
    where effort = {{ chosen }}

){{ "," if mapping == "token" }}
{%- endif %}
{%- if mapping == "token" %}

tokens as (

    select
        {{ dbt_anonymize._quote(record_key) }},
        token
    from {{ given.identifiers }}

)
{%- endif %}

select
    {%- for column in released %}
    {{ dbt_anonymize._quote(column, from_effort) }}{{ "," if not loop.last or mapping != "none" }}
    {%- endfor %}
    {{- {
        "class": "\n    " ~ ("effort." if joined) ~ "equivalence_class as cqi",
        "token": "\n    tokens.token",
        "none": "",
    }[mapping] }}
from effort
{%- if classes %}
left join class_order on effort.equivalence_class = class_order.equivalence_class
{%- endif %}
{%- if mapping == "token" %}
left join tokens on {{ dbt_anonymize._quote(record_key, "effort") }} = {{ dbt_anonymize._quote(record_key, "tokens") }}
{%- endif %}
{#- Not `class_size >= k`: what the suppression limit does not allow must stop the build, not vanish. #}
where not {{ "effort." if from_effort }}is_suppressed
{#- Ordered by what is released, so that the order of the rows carries nothing else. #}
{%- if is_ordered %}
order by
    {%- set ordering = ["class_order.class_number"] if classes else [] %}
    {%- for column in (given.kept_columns if classes else released) %}
    {%- do ordering.append(dbt_anonymize._quote(column, from_effort)) %}
    {%- endfor %}
    {%- do ordering.extend({"class": [] if classes else ["cqi"], "token": ["tokens.token"], "none": []}[mapping]) %}
    {{ ordering | join(",\n    ") }}
{%- endif %}
{%- endmacro %}


{# Query of the release as counts of its rows, in their order. #}
{% macro _counted_release(effort, columns, has_class, middles="") -%}
{%- set released = [] -%}
{%- for column in columns -%}{%- do released.append(dbt_anonymize._quote(column)) -%}{%- endfor -%}
with

released as (

    select
        {{ released | join(",\n        ") }}
        {{- ",\n        equivalence_class as cqi" if has_class }}
    from {{ "(select *" ~ middles ~ " from " ~ effort ~ ") as effort" if middles else effort }}
    where not is_suppressed

)

{{ dbt_anonymize._rows_in_order("released", released + (["cqi"] if has_class else []), true, effort) }}
{%- endmacro %}


{# Select of rows, or of their counts, ordered by what is released. Rows are counted by the bytes of each value too:
   what everybody sees as two texts or numbers is not counted as one. `typed`: a relation that has the columns. #}
{% macro _rows_in_order(rows, released, is_counted, typed=none) -%}
select
    {{ (dbt_anonymize._counted_values(released, typed) if is_counted else released) | join(",\n    ") }}
    {{- ",\n    count(*) as records" if is_counted }}
from {{ rows }}
{%- if is_counted %}
group by
    {{ released | join(",\n    ") }},
    {%- for column in released %}
    {{ dbt_anonymize._as_bytes(dbt_anonymize._as_text(column)) }}{{ "," if not loop.last }}
    {%- endfor %}
{%- endif %}
{%- if dbt_anonymize._is_ordered_here() %}
order by
    {{ released | join(",\n    ") }}
{%- endif %}
{%- endmacro %}


{# What the rows of a count have in the columns by which they are grouped, which an engine may change for that. #}
{% macro _counted_values(columns, typed) -%}
    {{ return(adapter.dispatch("_counted_values", "dbt_anonymize")(columns, typed)) }}
{%- endmacro %}

{% macro default___counted_values(columns, typed) -%}{{ return(columns) }}{%- endmacro %}
