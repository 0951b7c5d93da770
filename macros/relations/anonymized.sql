{% macro anonymized(
    anonymization, results, efforts, quasi_identifiers, kept_columns, guarantees, suppression_limit, fingerprint, microdata, record_key,
    levels, has_subject=false, population=none, population_size=none, sensitive_hierarchies={}
) -%}
{%- set guarantees = dbt_anonymize._checked_guarantees(guarantees) -%}
{%- set generalized = [] -%}
{%- set declared = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do declared.append({"name": quasi_identifier.name, "kind": quasi_identifier.kind}) -%}
    {%- do generalized.extend(dbt_anonymize._label_columns(quasi_identifier)) -%}
{%- endfor -%}
{%- set released = generalized + kept_columns -%}
{{ config(
    materialized="dbt_anonymize_release",
    schema=dbt_anonymize._release_schema(),
    meta={"dbt_anonymize": {
        "anonymization": anonymization,
        "guarantees": guarantees,
        "columns": released + ["cqi"],
        "quasi_identifiers": declared,
        "suppression_limit": suppression_limit,
        "record_key": record_key,
        "has_subject": has_subject,
        "path": dbt_anonymize._release_path(anonymization),
    }},
) }}
{%- set chosen = dbt_anonymize._chosen_effort(anonymization, results, efforts, fingerprint) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_context(
        anonymization, efforts[chosen], quasi_identifiers, guarantees, population, population_size, sensitive_hierarchies,
        levels.get(chosen), microdata, record_key, has_subject
    ) -%}
{%- endif -%}
with

effort as (

    select * from {{ efforts[chosen] }}

)

select
    {%- for column in released %}
    {{ dbt_anonymize._quote(column) }},
    {%- endfor %}
    equivalence_class as cqi
from effort
{#- Not `class_size >= k`: what the suppression limit does not allow must stop the build, not vanish. #}
where not is_suppressed
{#- Ordered by what is released, so that the order of the rows carries nothing else. #}
order by
    {%- for column in released %}
    {{ dbt_anonymize._quote(column) }},
    {%- endfor %}
    cqi
{%- endmacro %}
