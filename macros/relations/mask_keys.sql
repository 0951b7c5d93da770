{% macro mask_keys(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["anonymization", "masks"]) -%}
{{ config(
    materialized="dbt_anonymize_tokens",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    database=dbt_anonymize._vault_database(),
    schema=dbt_anonymize._vault_schema(),
    grants=dbt_anonymize._custodian_grants(),
    meta={"dbt_anonymize": {
        "anonymization": given.anonymization, "person": "mask", "drawn": "token", "are_keys": true,
    }},
) }}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(given.anonymization) -%}
{%- endif -%}
{%- for purpose in dbt_anonymize._mask_purposes(given.masks) %}
select {{ dbt_anonymize._as_text(dbt_anonymize._literal(purpose)) }} as person
{{- "\nunion all" if not loop.last }}
{%- endfor %}
{%- endmacro %}
