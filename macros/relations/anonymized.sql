{% macro anonymized(
    anonymization, results, efforts, quasi_identifiers, kept_columns, guarantees, suppression_limit, fingerprint,
    microdata, classes, record_key, levels, has_subject=false, population=none, population_size=none,
    sensitive_hierarchies={}, mapping="class", identifiers=none, tokens=none,
    composition="report", recompute=none, sample=none, sample_shares={}, budget=none, with_modes=[],
    formats=["duckdb"], membership=none, labels=none, hierarchies=[]
) -%}
{%- set generalized = [] -%}
{%- set declared = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do declared.append({"name": quasi_identifier.name, "kind": quasi_identifier.kind}) -%}
    {%- do generalized.extend(dbt_anonymize._label_columns(quasi_identifier)) -%}
{%- endfor -%}
{%- set mapped = {"class": ["cqi"], "token": ["token"], "none": []}[mapping] -%}
{%- set released = generalized + kept_columns + mapped -%}
{{ config(
    materialized="dbt_anonymize_release",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    schema=dbt_anonymize._release_schema(),
    meta={"dbt_anonymize": {
        "anonymization": anonymization,
        "guarantees": guarantees,
        "columns": released,
        "mapping": mapping,
        "quasi_identifiers": declared,
        "suppression_limit": suppression_limit,
        "record_key": record_key,
        "has_subject": has_subject,
        "path": dbt_anonymize._release_path(anonymization),
        "composition": composition,
        "formats": formats,
        "recompute": recompute,
        "sample_shares": sample_shares.items() | list,
        "levels": levels.items() | list,
        "hierarchies": hierarchies,
        "budget": budget,
        "waits": {"columns": generalized + kept_columns, "labels": labels} if membership else none,
    }},
) }}
{%- do dbt_anonymize._recomputed_from(recompute) -%}
{%- set chosen = dbt_anonymize._chosen_effort(anonymization, results, efforts, fingerprint) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_context(
        anonymization, efforts[chosen], quasi_identifiers, dbt_anonymize._guarantees_of_effort(guarantees, chosen),
        population, population_size, sensitive_hierarchies, levels.get(chosen), microdata, record_key, has_subject,
        sample_shares.get(chosen), chosen in with_modes
    ) -%}
{%- endif -%}
{%- if membership -%}
    {{ return(dbt_anonymize._released_members(
        membership, generalized + kept_columns, tokens if mapping == "token" else none, mapping == "class"
    )) }}
{%- endif -%}
{#- Where labels decide the class, one number per class sorts as all of them do, and much faster. -#}
{%- set is_numbered = levels.get(chosen) is not none -%}
{%- set joined = (["class_order"] if is_numbered else []) + (["tokens"] if mapping == "token" else []) -%}
{%- set from_effort = "effort" if joined else none -%}
with

effort as (

    select * from {{ efforts[chosen] }}

){{ "," if joined }}
{%- if is_numbered %}

class_order as (

    select
        equivalence_class,
        row_number() over (
            order by
                {%- for quasi_identifier in quasi_identifiers %}
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
    from {{ identifiers }}

)
{%- endif %}

select
    {%- for column in generalized + kept_columns %}
    {{ dbt_anonymize._quote(column, from_effort) }}{{ "," if not loop.last or mapped }}
    {%- endfor %}
    {{- {
        "class": "\n    " ~ ("effort." if joined) ~ "equivalence_class as cqi",
        "token": "\n    tokens.token",
        "none": "",
    }[mapping] }}
from effort
{%- if is_numbered %}
left join class_order on effort.equivalence_class = class_order.equivalence_class
{%- endif %}
{%- if mapping == "token" %}
left join tokens on {{ dbt_anonymize._quote(record_key, "effort") }} = {{ dbt_anonymize._quote(record_key, "tokens") }}
{%- endif %}
{#- Not `class_size >= k`: what the suppression limit does not allow must stop the build, not vanish. #}
where not {{ "effort." if from_effort }}is_suppressed
{#- Ordered by what is released, so that the order of the rows carries nothing else. #}
order by
    {%- set ordering = ["class_order.class_number"] if is_numbered else [] %}
    {%- for column in (kept_columns if is_numbered else generalized + kept_columns) %}
    {%- do ordering.append(dbt_anonymize._quote(column, from_effort)) %}
    {%- endfor %}
    {%- do ordering.extend({"class": [] if is_numbered else ["cqi"], "token": ["tokens.token"], "none": []}[mapping]) %}
    {{ ordering | join(",\n    ") }}
{%- endmacro %}


{# Query of the release where new records wait: of the members, ordered by what is released. #}
{% macro _released_members(membership, columns, tokens, has_class) -%}
{%- set released = [] -%}
{%- for column in columns -%}{%- do released.append(dbt_anonymize._quote(column)) -%}{%- endfor -%}
{%- do released.extend(["cqi"] if has_class else ["token"] if tokens else []) -%}
with

members as (

    select
        {%- for column in columns %}
        membership.v_{{ loop.index }} as {{ released[loop.index0] }}
        {{- "," if not loop.last or has_class or tokens }}
        {%- endfor %}
        {{ "membership.cqi" if has_class else "tokens.token" if tokens }}
    from {{ membership }} as membership
    {%- if tokens %}
    left join {{ tokens }} as tokens on membership.record_key = {{ dbt_anonymize._as_text("tokens.person") }}
    {%- endif %}
    where membership.cqi is not null

)

select
    {{ released | join(",\n    ") }}
from members
order by
    {{ released | join(",\n    ") }}
{%- endmacro %}
