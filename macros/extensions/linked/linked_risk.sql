{#
  Body of what the tables of the release tell of subjects together, by `joined_risk`. A view, so that the rows count
  that are about to be published, of whichever build they are: a row with a `problem` stops the release.
#}
{% macro linked_risk(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "results", "efforts", "fingerprint", "record_key", "identifiers", "decisions", "quasi_identifiers",
    "tables", "k", "known_records",
], {"known_count": false, "l": none, "sensitive": []}) -%}
{{ config(materialized="view") }}
{%- set chosen = dbt_anonymize._chosen_effort(given.anonymization, given.results, given.efforts, given.fingerprint) -%}
{%- set key = dbt_anonymize._quote(given.record_key, "effort") -%}
{%- set subjects -%}
(
        select
            effort.*,
            identifiers.token
        from {{ given.efforts[chosen] }} as effort
        inner join {{ given.identifiers }} as identifiers
            on {{ key }} = {{ dbt_anonymize._quote(given.record_key, "identifiers") }}
        where not effort.is_suppressed
    )
{%- endset -%}
{%- set known = "known_records " ~ ("is null" if given.known_records == "all" else "= " ~ given.known_records) -%}
select
    known_records,
    subjects_at_risk,
    coalesce(
        problem,
        case
            when {{ known }} and subjects_at_risk > 0
                then
                    cast(subjects_at_risk as {{ dbt.type_string() }})
                    || ' subjects would be found by their own values and linked records; the tables of the release are'
                    || ' not of one build. Run `dbt build -s +{{ given.anonymization }}_anonymized`.'
            {%- if given.l %}
            when {{ known }} and subjects_not_diverse > 0
                then
                    'a sensitive value of ' || cast(subjects_not_diverse as {{ dbt.type_string() }})
                    || ' subjects would be told; the tables of the release are not of one build. Run'
                    || ' `dbt build -s +{{ given.anonymization }}_anonymized`.'
            {%- endif %}
        end
    ) as problem
from (
    {{ dbt_anonymize.joined_risk(
        dict(
            {"relation": subjects ~ " as effort_rows", "key": "token", "quasi_identifiers": given.quasi_identifiers},
            **({"sensitive": given.sensitive} if given.sensitive else {})
        ),
        given.tables, given.k[chosen], given.known_records, given.known_count, given.l
    ) | indent(4) }}
) as risks
union all
select
    null as known_records,
    null as subjects_at_risk,
    'the linked tables must be counted with the chosen effort, by the spec as it is, and with their rows. Run'
    || ' `dbt build -s +{{ given.anonymization }}_anonymized`.' as problem
{%- if not dbt_anonymize._is_trial() %}
from {{ given.results }}
where
    is_chosen
    and (effort <> {{ chosen }} or fingerprint <> {{ dbt_anonymize._literal(given.fingerprint) }})
{%- endif %}
{%- for name, table in given.tables.items() %}
{{- dbt_anonymize._decided_otherwise(given, name, table, chosen) }}
{%- endfor %}
{%- endmacro %}


{# Result row where a released table does not hold the records that the chosen effort releases, no more and no fewer. #}
{% macro _decided_otherwise(given, name, table, chosen) %}
union all
select
    null as known_records,
    null as subjects_at_risk,
    'the records of {{ name }} must be those that effort {{ chosen }} releases; ' || count(*)
    || ' are not, or are missing. Run `dbt build -s +{{ given.anonymization }}_anonymized`.' as problem
from (
    select released_key
    from (
        select
            released_key,
            1 as is_decided
        from {{ given.decisions[chosen] }}
        where
            linked_table = {{ dbt_anonymize._literal(name) }}
            and status <> 'left out'
        union all
        select
            {{ dbt_anonymize._quote(table.key) }} as released_key,
            0 as is_decided
        from {{ table.relation }}
    ) as listed
    group by released_key
    having
        count(*) <> 2
        or sum(is_decided) <> 1
) as unmatched
having count(*) > 0
{%- endmacro %}
