{% macro identifiers(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "source", "record_key", "identifiers",
], {
    "mapping": "class", "anonymized": none, "results": none, "efforts": {}, "fingerprint": none, "tokens": none,
    "person": none, "membership": none, "consent": none,
}) -%}
{{ config(
    materialized="dbt_anonymize_vault",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    database=dbt_anonymize._vault_database(),
    schema=dbt_anonymize._vault_schema(),
    grants=dbt_anonymize._custodian_grants(),
    meta={"dbt_anonymize": {
        "anonymization": given.anonymization,
        "mapping": given.mapping,
        "record_key": given.record_key,
        "anonymized": given.anonymization ~ "_anonymized" if given.mapping == "class" else none,
        "membership": given.anonymization ~ "_membership" if given.membership else none,
        "has_consent": given.consent is not none,
    }},
) }}
{%- if given.mapping == "class" -%}
    {%- set chosen = dbt_anonymize._chosen_effort(
        given.anonymization, given.results, given.efforts, given.fingerprint
    ) -%}
{%- endif -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(given.anonymization) -%}
{%- endif -%}
with

source as (

    {{ dbt_anonymize._taking_part(given.source, given.anonymization, given.record_key) }}

),
{%- if given.consent %}

consenting as (

    {{ dbt_anonymize._taking_part(given.source, given.anonymization, given.record_key, consent=given.consent) }}

),
{%- endif %}

{% if given.mapping == "class" -%}
{# Generalized values only: a raw quasi-identifier, hashed or not, would lead back to one person. #}
mapping as (

    {%- if given.membership %}

    select
        record_key as member,
        cqi
    from {{ given.membership }}
    where cqi is not null
    {%- else %}

    select
        {{ dbt_anonymize._quote(given.record_key) }},
        equivalence_class as cqi
    from {{ given.efforts[chosen] }}
    where not is_suppressed
    {%- endif %}

)
{%- else -%}
mapping as (

    select
        person,
        token
    from {{ given.tokens }}

)
{%- endif %}

select
    {{ dbt_anonymize._quote(given.record_key, "source") }},
    {%- for column in given.identifiers %}
    {{ dbt_anonymize._quote(column, "source") }},
    {%- endfor %}
    mapping.{{ "cqi" if given.mapping == "class" else "token" }}
    {%- if given.consent %},
    {{ dbt_anonymize._quote(given.record_key, "consenting") }} is not null as has_consent
    {%- endif %}
from source
{%- if given.consent %}
left join consenting
    on {{ dbt_anonymize._quote(given.record_key, "source") }}
    = {{ dbt_anonymize._quote(given.record_key, "consenting") }}
{%- endif %}
left join mapping
    {%- if given.membership and given.mapping == "class" %}
    on {{ dbt_anonymize._as_text(dbt_anonymize._quote(given.record_key, "source")) }} = mapping.member
    {%- elif given.mapping == "class" %}
    on {{ dbt_anonymize._quote(given.record_key, "source") }} = {{ dbt_anonymize._quote(given.record_key, "mapping") }}
    {%- else %}
    on {{ dbt_anonymize._quote(given.person, "source") }} = mapping.person
    {%- if given.consent %} and {{ dbt_anonymize._quote(given.record_key, "consenting") }} is not null{% endif %}
    {%- endif %}
{%- endmacro %}


{# Before the vault takes its place, in its transaction: it leads to the people of the release, and of no other data. #}
{% macro _check_identifiers(candidate) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set errors = dbt_anonymize._group_errors(candidate, declaration) if declaration.mapping == "class"
        else dbt_anonymize._token_errors(candidate, declaration.has_consent) -%}
    {%- do errors.extend(dbt_anonymize._record_key_errors(candidate, declaration)) -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            "anonymization " ~ declaration.anonymization ~ ": the vault is unchanged.\n  - " ~ errors | join("\n  - ")
        ) }}
    {%- endif -%}
{%- endmacro %}


{#
  Every group of the vault is the group of the release. As each record key is there once, and has the group that the
  effort gave it or none, groups of the same size are the same people.
#}
{% macro _group_errors(candidate, declaration) -%}
    {%- set cqi = dbt_anonymize._as_bytes("cqi") -%}
    {#- Who waits to leave may be gone from the source, and is not in the vault then. -#}
    {%- set candidate = ref(declaration.membership) if declaration.membership else candidate -%}
    {%- set differing = run_query(
        "select count(*) from (select " ~ cqi ~ " as cqi, count(*) as records from " ~ candidate
        ~ " where cqi is not null group by " ~ cqi ~ ") as vault "
        ~ "full outer join (select " ~ cqi ~ " as cqi, count(*) as records from " ~ ref(declaration.anonymized)
        ~ " group by " ~ cqi ~ ") as released "
        ~ "on vault.cqi = released.cqi where vault.records is null or released.records is null or vault.records <>"
        ~ " released.records"
    ).rows[0][0] -%}
    {{ return([
        "the vault and the release must hold the same groups of people; " ~ differing ~ " differ. The source changed"
        ~ " during the build, after its working copy was made: the release is of that copy, and the vault does not"
        ~ " lead to it. Run `dbt build` again."
    ] if differing > 0 else []) }}
{%- endmacro %}


{# Every record has the token of its person, if she agreed. #}
{% macro _token_errors(candidate, has_consent) -%}
    {%- set counts = run_query(
        "select count(*), count(token) from " ~ candidate ~ (" where has_consent" if has_consent else "")
    ).rows[0] -%}
    {{ return([
        "every record must be of a person with a token; " ~ (counts[0] - counts[1]) ~ " of " ~ counts[0]
        ~ " are not. The source changed"
        ~ " during the build, or the tokens were not built; run `dbt build -s +" ~ model.name ~ "`."
    ] if counts[1] < counts[0] else []) }}
{%- endmacro %}


{# No record is there twice. #}
{% macro _record_key_errors(candidate, declaration) -%}
    {%- set records = run_query("select count(*) from " ~ candidate).rows[0][0] -%}
    {%- set keys = dbt_anonymize._count_distinct(candidate, declaration.record_key) -%}
    {{ return([
        "every record must be there once; " ~ (records - keys) ~ " of " ~ records ~ " repeat another. The source"
        ~ (" or the stored tokens hold" if declaration.mapping == "token" else " holds")
        ~ " somebody twice, which was not made so by this package. Look there before you build again."
    ] if keys < records else []) }}
{%- endmacro %}
