{#
  Body of a linked table of the release: the records of the chosen effort that are released, with new keys that join as
  before, labels one level up for raised ones and `*` for hidden ones, in the order of the keys.
#}
{% macro linked_release(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "results", "efforts", "fingerprint", "record_key", "identifiers", "decisions", "levels", "name",
    "relation", "key", "parent", "over", "quasi_identifiers", "kept_columns",
], {}) -%}
{{ config(materialized="table") }}
{%- set chosen = dbt_anonymize._chosen_effort(given.anonymization, given.results, given.efforts, given.fingerprint) -%}
{%- set decisions, levels = given.decisions[chosen], given.levels[chosen] -%}
{%- set quasi_identifiers = [] -%}
{%- for one in given.quasi_identifiers -%}
    {%- do quasi_identifiers.append(dict(one, level=levels[one.name])) -%}
{%- endfor -%}
with

records as (

    select
        *
        {{- dbt_anonymize._raised_columns(quasi_identifiers) }}
    from {{ given.relation }}

),
{{- dbt_anonymize.generalize(
    "records", quasi_identifiers + dbt_anonymize._raised(quasi_identifiers),
    [given.key, given.parent] + given.kept_columns
) }}

{#- What a hidden record shows is what the root shows. #}

decided as (

    select
        record,
        status,
        released_key
    from {{ decisions }}
    where
        linked_table = {{ dbt_anonymize._literal(given.name) }}
        and status <> 'left out'

),

parents as (

    select
        {%- if given.over == "subjects" %}
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(given.record_key)) }} as record,
        token as released_key
    from {{ given.identifiers }}
        {%- else %}
        record,
        released_key
    from {{ decisions }}
    where
        linked_table = {{ dbt_anonymize._literal(given.over) }}
        and status <> 'left out'
        {%- endif %}

)

select
    decided.released_key as {{ dbt_anonymize._quote(given.name ~ "_key") }},
    parents.released_key as {{ dbt_anonymize._quote("token" if given.over == "subjects" else given.over ~ "_key") }}
    {%- for quasi_identifier in quasi_identifiers %},
    {%- set shown = dbt_anonymize._quote(quasi_identifier.name) %}
    case
        when decided.status = 'hidden' then '*'
        when decided.status = 'raised' then generalized.{{ dbt_anonymize._raised_name(quasi_identifier.name) }}
        else generalized.{{ shown }}
    end as {{ shown }}
    {%- for end in ["lower", "upper"] if quasi_identifier.kind == "interval" %},
    {%- set column = quasi_identifier.name ~ "_" ~ end -%}
    {%- set bound = dbt_anonymize._quote(column) %}
    case
        when decided.status = 'hidden'
            then (
                select {{ "min(lower_bound)" if end == "lower" else "max(upper_bound)" }}
                from {{ quasi_identifier.hierarchy }}
            )
        when decided.status = 'raised' then generalized.{{ dbt_anonymize._raised_name(column) }}
        else generalized.{{ bound }}
    end as {{ bound }}
    {%- endfor %}
    {%- endfor %}
    {%- for column in given.kept_columns %},
    generalized.{{ dbt_anonymize._quote(column) }}
    {%- endfor %}
from generalized
inner join decided
    on {{ dbt_anonymize._as_text(dbt_anonymize._quote(given.key, "generalized")) }} = decided.record
inner join parents
    on {{ dbt_anonymize._as_text(dbt_anonymize._quote(given.parent, "generalized")) }} = parents.record
order by decided.released_key
{%- endmacro %}
