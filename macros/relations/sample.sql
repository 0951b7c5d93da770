{% macro sample(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "source", "person",
], {
    "strata": [], "mechanism": none,
}) -%}
{{ config(
    materialized="dbt_anonymize_tokens",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    database=dbt_anonymize._vault_database(),
    schema=dbt_anonymize._vault_schema(),
    grants=dbt_anonymize._custodian_grants(),
    meta={"dbt_anonymize": {
        "anonymization": given.anonymization,
        "person": given.person,
        "drawn": "draw",
        "strata": given.strata | length,
        "mechanism": given.mechanism,
    }},
) }}
{%- do dbt_anonymize._check_stored(given.anonymization, [given.source]) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(given.anonymization) -%}
    {%- do dbt_anonymize._check_stored_tokens(
        given.anonymization, given.source, given.person, "draw", given.mechanism
    ) -%}
{%- endif -%}
select
    {{ dbt_anonymize._quote(given.person, "source") }} as person
    {#- Who has records in several strata is in the first of them. #}
    {%- for column in given.strata %},
    min({{ dbt_anonymize._as_text(dbt_anonymize._quote(column, "source")) }}) as stratum_{{ loop.index }}
    {%- endfor %}
from {{ given.source }} as source
where {{ dbt_anonymize._quote(given.person, "source") }} is not null
group by {{ dbt_anonymize._quote(given.person, "source") }}
{%- endmacro %}


{# Join of a table with what its persons have drawn. Under differential privacy everybody has drawn once for each
   mechanism, so that no two releases share a sample. #}
{% macro _join_draws(sample, person, mechanism=none) -%}
left join {{ sample }} as drawn on {{ person }} = drawn.person
{%- if mechanism %} and drawn.mechanism = {{ dbt_anonymize._literal(mechanism) }}{% endif -%}
{%- endmacro %}


{# SQL of whether a row of the microdata or the frequencies is in the sample of a share. #}
{% macro _is_sampled(share, rows=none) -%}
    {{ return(
        (rows ~ "." if rows else "") ~ "sample_share <= cast(" ~ dbt_anonymize._number(share) ~ " as "
        ~ dbt_anonymize._type_double() ~ ")"
    ) }}
{%- endmacro %}
