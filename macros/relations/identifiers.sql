{% macro identifiers(anonymization, source, anonymized, results, efforts, record_key, identifiers, fingerprint) -%}
{{ config(
    materialized="table",
    database=dbt_anonymize._vault_database(),
    schema=dbt_anonymize._vault_schema(),
    meta={"dbt_anonymize": {"anonymization": anonymization, "anonymized": anonymization ~ "_anonymized"}},
    post_hook="{{ dbt_anonymize._check_vault() }}",
) }}
{%- set chosen = dbt_anonymize._chosen_effort(anonymization, results, efforts, fingerprint) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(anonymization) -%}
{%- endif -%}
{%- if execute and model.resource_type != "unit_test" and dbt_anonymize._is_trial() and load_relation(this) is not none -%}
{#- A build of no rows or a sample must not empty the vault. -#}
select * from {{ this }}
{%- else -%}
with

source as (

    select * from {{ source }}

),

{# Generalized values only: a raw quasi-identifier, hashed or not, would lead back to one person. #}
mapping as (

    select
        {{ dbt_anonymize._quote(record_key) }},
        equivalence_class as cqi
    from {{ efforts[chosen] }}
    where not is_suppressed

)

select
    {{ dbt_anonymize._quote(record_key, "source") }},
    {%- for column in identifiers %}
    {{ dbt_anonymize._quote(column, "source") }},
    {%- endfor %}
    mapping.cqi
from source
left join mapping
    on {{ dbt_anonymize._quote(record_key, "source") }} = {{ dbt_anonymize._quote(record_key, "mapping") }}
{%- endif -%}
{%- endmacro %}


{# Identifiers must not end in the file of the warehouse, whatever a project does to names of databases. #}
{% macro _check_vault_place(anonymization) -%}
    {{ return(adapter.dispatch("_check_vault_place", "dbt_anonymize")(anonymization)) }}
{%- endmacro %}

{% macro default___check_vault_place(anonymization) -%}{%- endmacro %}

{% macro duckdb___check_vault_place(anonymization) -%}
    {%- if this.database == target.database -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "the vault must be a database file of its own; got the database of the warehouse, " ~ target.database
            ~ ". Attach another file in the profile as " ~ dbt_anonymize._vault_database()
            ~ ", and let no generate_database_name of your project take it away."
        ]) -%}
    {%- endif -%}
{%- endmacro %}


{# In the transaction of the vault: every group of the vault is the group of the release. #}
{% macro _check_vault() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set cqi = dbt_anonymize._as_bytes("cqi") -%}
    {%- set differing = run_query(
        "select count(*) from (select " ~ cqi ~ " as cqi, count(*) as records from " ~ this ~ " where cqi is not null group by " ~ cqi ~ ") as vault "
        ~ "full outer join (select " ~ cqi ~ " as cqi, count(*) as records from " ~ ref(declaration.anonymized) ~ " group by " ~ cqi ~ ") as released "
        ~ "on vault.cqi = released.cqi where vault.records is null or released.records is null or vault.records <> released.records"
    ).rows[0][0] -%}
    {%- if differing > 0 -%}
        {{ exceptions.raise_compiler_error(
            "anonymization " ~ declaration.anonymization ~ ": the vault and the release must hold the same groups of people; "
            ~ differing ~ " differ. The source changed during the build, after its working copy was made: the release is of that copy, and"
            ~ " the vault is unchanged and does not lead to it. Run `dbt build` again."
        ) }}
    {%- endif -%}
{%- endmacro %}
