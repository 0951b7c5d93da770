{% macro table_draws(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["anonymization", "source", "person"]) -%}
{%- set person = dbt_anonymize._quote(given.person, "source") -%}
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
        "strata": 0,
        "mechanism": none,
        "remembered_by": "table_releases",
    }},
) }}
{%- do dbt_anonymize._check_stored(given.anonymization, [given.source]) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(given.anonymization) -%}
    {%- do dbt_anonymize._check_stored_tokens(given.anonymization, given.source, given.person, "draw") -%}
{%- endif -%}
select {{ person }} as person
from {{ given.source }} as source
where {{ person }} is not null
group by {{ person }}
{%- endmacro %}
